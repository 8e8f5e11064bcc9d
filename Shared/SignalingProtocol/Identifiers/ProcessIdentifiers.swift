/// The id of one run of one gateway process; never reused, so that a restarted gateway is another gateway.
package struct GatewayID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Takes an id that our own processes made.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The public id of one login, unique in the cluster: safe in logs and events, unlike the ``Line``.
package struct SessionID: ByteIdentifier {
    /// Visible ASCII without spaces.
    package let rawValue: String

    /// Takes an id that our own processes made.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The id of one command: what makes a redelivered command take effect once.
package struct CommandID: ByteIdentifier {
    /// Visible ASCII without spaces.
    package let rawValue: String

    /// Takes an id that our own processes made.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The id of a command that follows from this one, the same each time this one is redelivered.
    package func derived(_ suffix: String) -> CommandID { CommandID("\(rawValue).\(suffix)") }
}

/// The services that take commands.
package enum ServiceName: String, Sendable, CaseIterable {
    /// Users: sessions, user attributes, mailbox housekeeping.
    case presence
    /// Channels: members, channel attributes.
    case channelState = "channel-state"
    /// Calls.
    case invitation
    /// Telephones.
    case sipBridge = "sip-bridge"
}
