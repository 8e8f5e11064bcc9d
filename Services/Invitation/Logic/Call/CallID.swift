package import SignalingProtocol

/// The id of one call, fresh for every invitation: the id of the command that invited.
package struct CallID: ByteIdentifier {
    /// Visible ASCII without spaces.
    package let rawValue: String

    /// Takes an id that our own processes made.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The id of the call that a command starts; a redelivered command starts the same call.
    package init(_ command: CommandID) { rawValue = command.rawValue }
}
