public import NIOCore
public import SignalingProtocol
public import SignalingWire

/// Commands that nobody waits for, from one service to another.
public enum CommandPost {
    /// The command that appends `command` to its service's stream.
    /// - Parameters:
    ///   - id: makes a repetition harmless; derive it from the id of what caused it.
    ///   - ttl: the service drops the command after this time; zero for never.
    public static func command(
        for command: some WireCommand, id: CommandID, ttl: TimeAmount = .seconds(60)
    ) -> RedisCommand {
        CommandEnvelope(
            operation: type(of: command).operation, id: id, from: nil, timeToLive: ttl.nanoseconds / 1_000_000,
            fields: command.fields
        ).adding(to: KeySpace.commands(type(of: command).service))
    }

    /// The command that appends `command` to the stream of one sip-bridge. Its answer is null when that bridge is gone:
    /// its stream, once removed, is not made again.
    /// - Parameters: as for ``command(for:id:ttl:)``.
    public static func command(
        for command: some WireCommand, id: CommandID, ttl: TimeAmount = .seconds(60), to bridge: GatewayID
    ) -> RedisCommand {
        CommandEnvelope(
            operation: type(of: command).operation, id: id, from: nil, timeToLive: ttl.nanoseconds / 1_000_000,
            fields: command.fields
        ).adding(to: KeySpace.commands(bridge), onlyIfThere: true)
    }
}
