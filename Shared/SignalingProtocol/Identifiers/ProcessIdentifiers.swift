/// The id of one run of one gateway process; never reused, so that a restarted gateway is another gateway.
package struct GatewayID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Takes an id that our own processes made.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The id of one run of one sip-bridge process; never reused, so that a restarted bridge is another bridge.
package struct BridgeID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Takes an id that our own processes made.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The process that sent a command and waits for the reply: a gateway's shard or a sip-bridge.
package struct AskerID: ByteIdentifier {
    /// The id of the gateway or the bridge.
    package let rawValue: String

    /// Takes an id that came with a command.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// A gateway as a sender of commands.
    package init(_ gateway: GatewayID) { rawValue = gateway.rawValue }

    /// A sip-bridge as a sender of commands.
    package init(_ bridge: BridgeID) { rawValue = bridge.rawValue }
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
