public import SignalingProtocol
public import SignalingWire

/// What a handler knows about a command besides its fields.
public struct CommandContext: Sendable, Equatable {
    /// The same each time the command is delivered.
    public var id: CommandID
    /// When it must no longer take effect, Redis clock, ms; 0 for never.
    public var deadline: Int64

    /// Makes a context.
    public init(id: CommandID, deadline: Int64) {
        self.id = id
        self.deadline = deadline
    }
}

/// Which handler takes which command of a service.
public struct CommandRouter: Sendable {
    typealias Route = @Sendable (FieldReader, CommandContext) async -> Result<[UInt8], SignalingError>

    private(set) var routes: [String: Route] = [:]

    /// Takes nothing yet.
    public init() {}

    /// Handles commands of one type. A command may be delivered more than once, also while an earlier delivery is still
    /// being handled: the handler makes it take effect once by its id.
    public mutating func on<C: WireCommand>(
        _ type: C.Type, _ handle: @escaping @Sendable (C, CommandContext) async throws(SignalingError) -> C.Reply
    ) {
        precondition(routes[C.operation] == nil, "two handlers of \(C.operation)")
        routes[C.operation] = { fields, context in
            do throws(SignalingError) {
                let reply = try await handle(try C(from: fields), context)
                var writer = FieldWriter()
                reply.write(to: &writer)
                return .success(writer.encoded)
            } catch {
                return .failure(error)
            }
        }
    }

    func handle(_ envelope: CommandEnvelope, _ context: CommandContext) async -> Result<[UInt8], SignalingError> {
        guard let route = routes[envelope.operation] else {
            return .failure(SignalingError(.unknown, "unknown_operation", "the service does not know this command"))
        }
        return await route(FieldReader(pairs: envelope.fields), context)
    }
}
