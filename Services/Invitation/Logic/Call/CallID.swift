package import SignalingProtocol

/// The id of a call, new for every invitation: the id of the command that invited.
package struct CallID: ByteIdentifier {
    /// Visible ASCII without spaces.
    package let rawValue: String

    /// Uses an id that one of our own processes made; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The id of the call that a command starts; a redelivered command has the same one.
    package init(_ command: CommandID) { rawValue = command.rawValue }
}
