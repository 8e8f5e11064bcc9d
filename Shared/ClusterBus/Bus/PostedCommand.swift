package import BusProtocol
package import ClusterState
package import RedisClient
package import SignalingProtocol

/// Commands that one service sends to another without expecting a reply. They stay on streams of their own until
/// they are handled, however long the receiving service is down. Redis accepts them even at `maxmemory`, because
/// they are consequences of something that has already happened. The connection must keep
/// ``RedisFunctionLibrary/streams`` loaded.
package enum PostedCommand {
    /// The Redis command that appends `command` to the receiving service's stream of posts.
    /// - Parameters:
    ///   - bus: decides which of the receiver's streams it is.
    ///   - id: identifies repetitions, which have no further effect; derive it from the id of the cause.
    ///   - deadline: after it the command is dropped; default nil, for never.
    ///   - cause: the request of which the command is a consequence; default: none that is known.
    package static func command(
        on bus: BusLayout, for command: some ServiceCommand, id: CommandID, deadline: RedisTime? = nil,
        cause: CommandCause = CommandCause()
    ) -> RedisCommand {
        let partition = bus.partition(of: command.subject)
        return envelope(command, id, deadline, cause)
            .adding(command.fields, to: KeySpace.posts(type(of: command).service, in: partition), isVital: true)
            .inSlot(partition.slot)
    }

    /// The Redis command that appends `command` to the stream of one sip-bridge. Its reply is null when the bridge is
    /// gone: a removed stream is not created again.
    /// - Parameters: as for ``command(on:for:id:deadline:cause:)``.
    package static func command(
        for command: some ServiceCommand, id: CommandID, to bridge: BridgeID, cause: CommandCause = CommandCause()
    ) -> RedisCommand {
        envelope(command, id, nil, cause)
            .adding(command.fields, to: KeySpace.commands(bridge), onlyIfThere: true, isVital: true)
    }

    private static func envelope(
        _ command: some ServiceCommand, _ id: CommandID, _ deadline: RedisTime?, _ cause: CommandCause
    ) -> CommandEnvelope {
        CommandEnvelope(
            operation: type(of: command).operation, id: id, from: nil, deadline: deadline, cause: cause)
    }
}
