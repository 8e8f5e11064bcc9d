package import SignalingProtocol
package import SignalingWire

/// What a handler knows about a command besides its fields.
package struct CommandContext: Sendable, Equatable {
    /// The same each time the command is delivered.
    package var id: CommandID
    /// When it must no longer take effect, Redis clock, ms; 0 for never.
    package var deadline: Int64
    /// Who waits for the answer; nil when nobody does.
    package var asker: GatewayID?

    /// Makes a context.
    package init(id: CommandID, deadline: Int64, asker: GatewayID? = nil) {
        self.id = id
        self.deadline = deadline
        self.asker = asker
    }
}

/// An answer, and what follows from the command without the asker having to wait for it.
package struct FollowedReply<Reply: Sendable>: Sendable {
    /// The answer.
    package var reply: Reply
    /// Sent before the answer, and again when the command is delivered again: to be harmless then. A failure is logged.
    package var then: [RedisCommand]

    /// Makes an answer.
    package init(_ reply: Reply, then: [RedisCommand]) {
        self.reply = reply
        self.then = then
    }
}

/// What became of a command.
struct CommandOutcome: Sendable {
    var result: Result<[UInt8], SignalingError>
    var then: [RedisCommand] = []
}

/// Which handler takes which command of a service.
package struct CommandRouter: Sendable {
    typealias Route = @Sendable (FieldReader, CommandContext) async -> CommandOutcome

    private(set) var routes: [String: Route] = [:]

    /// Takes nothing yet.
    package init() {}

    /// Handles commands of one type. A command may be delivered more than once, also while an earlier delivery is still
    /// being handled: the handler makes it take effect once by its id.
    package mutating func on<C: WireCommand>(
        _ type: C.Type, _ handle: @escaping @Sendable (C, CommandContext) async throws(SignalingError) -> C.Reply
    ) {
        add(type) { command, context async throws(SignalingError) in
            FollowedReply(try await handle(command, context), then: [])
        }
    }

    /// Handles commands of one type, as ``on(_:_:)`` does, where more is to be done than to answer.
    package mutating func onFollowed<C: WireCommand>(
        _ type: C.Type,
        _ handle: @escaping @Sendable (C, CommandContext) async throws(SignalingError) -> FollowedReply<C.Reply>
    ) {
        add(type, handle)
    }

    private mutating func add<C: WireCommand>(
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
        guard let route = routes[command.envelope.operation] else {
            return CommandOutcome(
                result: .failure(
                    SignalingError(.unknown, .unknownOperation, "the service does not know this command")))
        }
        return await route(command.fields, context)
    }
}
