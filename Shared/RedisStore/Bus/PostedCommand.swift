package import ClusterState
package import SignalingProtocol
package import SignalingWire

/// Commands without an answer, from one service to another. They stay on streams of their own until they are done, however
/// long the receiving service is away. A full Redis accepts them, because they follow from something that has happened.
/// The connection must keep ``RedisFunctionLibrary/streams`` loaded.
package enum PostedCommand {
    /// The command that appends `command` to its service's stream of posts.
    /// - Parameters:
    ///   - id: makes a repetition harmless; derive it from the id of what caused it.
    ///   - deadline: when it is of no use any more; default nil, for never.
    package static func command(for command: some WireCommand, id: CommandID, deadline: RedisTime? = nil)
        -> RedisCommand
    {
        envelope(command, id, deadline)
            .adding(command.fields, to: KeySpace.posts(type(of: command).service), isVital: true)
    }

    /// The command that appends `command` to the stream of one sip-bridge. Its answer is null when that bridge is gone:
    /// its stream, once removed, is not made again.
    /// - Parameter id: as for ``command(for:id:deadline:)``.
    package static func command(for command: some WireCommand, id: CommandID, to bridge: GatewayID) -> RedisCommand {
        envelope(command, id, nil)
            .adding(command.fields, to: KeySpace.commands(bridge), onlyIfThere: true, isVital: true)
    }

    private static func envelope(_ command: some WireCommand, _ id: CommandID, _ deadline: RedisTime?)
        -> CommandEnvelope
    {
        CommandEnvelope(operation: type(of: command).operation, id: id, from: nil, deadline: deadline)
    }
}
