package import BusProtocol
package import RedisClient
package import SignalingProtocol

/// What a handler is told about a command besides its fields.
package struct CommandContext: Sendable, Equatable {
    /// The command's id, the same at each delivery.
    package var id: CommandID
    /// After it the command must have no effect; nil for never.
    package var deadline: RedisTime?
    /// The process that waits for the reply; nil when none does.
    package var asker: AskerID?
    /// Which request the command was sent for.
    package var cause: CommandCause

    package init(
        id: CommandID, deadline: RedisTime? = nil, asker: AskerID? = nil, cause: CommandCause = CommandCause()
    ) {
        self.id = id
        self.deadline = deadline
        self.asker = asker
        self.cause = cause
    }

    /// A step of the command that takes effect once by itself: for the same request, without a deadline or an answer.
    package func step(_ name: String) -> CommandContext { CommandContext(id: id.derived(name), cause: cause) }
}

/// A reply, with Redis commands that follow from the command but that the requester need not wait for.
package struct FollowedReply<Reply: Sendable>: Sendable {
    package var reply: Reply
    /// Sent before the reply, and again when the command is delivered again, so they must be repeatable. A failure is
    /// logged.
    package var then: [RedisCommand]

    package init(_ reply: Reply, then: [RedisCommand]) {
        self.reply = reply
        self.then = then
    }
}

/// The result of handling a command.
struct CommandOutcome: Sendable {
    var result: Result<[UInt8], SignalingError>
    var then: [RedisCommand] = []
}

/// Maps each command of a service to its handler.
package struct CommandRouter: Sendable {
    typealias Route = @Sendable (FieldReader, CommandContext) async -> CommandOutcome

    private(set) var routes: [String: Route] = [:]

    /// Creates a router without handlers.
    package init() {}

    /// Whether there are no handlers.
    package var isEmpty: Bool { routes.isEmpty }

    /// Registers the handler of one type of command. A command may be delivered more than once, even while an earlier
    /// delivery is still being handled: the handler must recognise its id and make it take effect once.
    package mutating func on<C: ServiceCommand>(
        _ type: C.Type, _ handle: @escaping @Sendable (C, CommandContext) async throws(SignalingError) -> C.Reply
    ) {
        add(type) { command, context async throws(SignalingError) in
            FollowedReply(try await handle(command, context), then: [])
        }
    }

    /// Registers a handler as ``on(_:_:)`` does, for a command that has consequences besides its reply.
    package mutating func onFollowed<C: ServiceCommand>(
        _ type: C.Type,
        _ handle: @escaping @Sendable (C, CommandContext) async throws(SignalingError) -> FollowedReply<C.Reply>
    ) {
        add(type, handle)
    }

    private mutating func add<C: ServiceCommand>(
        _ type: C.Type,
        _ handle: @escaping @Sendable (C, CommandContext) async throws(SignalingError) -> FollowedReply<C.Reply>
    ) {
        precondition(routes[C.operation] == nil, "two handlers of \(C.operation)")
        routes[C.operation] = { fields, context in
            do throws(SignalingError) {
                let followed = try await handle(try C(from: fields), context)
                var writer = FieldWriter()
                followed.reply.write(to: &writer)
                return CommandOutcome(result: .success(writer.encoded), then: followed.then)
            } catch {
                return CommandOutcome(result: .failure(error))
            }
        }
    }

    func handle(_ command: ReceivedCommand, _ context: CommandContext) async -> CommandOutcome {
        guard command.envelope.version <= CommandEnvelope.version, let route = routes[command.envelope.operation] else {
            return CommandOutcome(
                result: .failure(
                    SignalingError(.unknown, .unknownOperation, "the service does not know this command")))
        }
        return await route(command.fields, context)
    }
}
