public import SignalingProtocol

/// The id of one call, fresh for every invitation: the id of the command that invited.
public struct CallID: ByteIdentifier {
    /// Visible ASCII without spaces.
    public let rawValue: String

    /// Takes an id that our own processes made.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The id of the call that a command starts; a redelivered command starts the same call.
    public init(_ command: CommandID) { rawValue = command.rawValue }
}
