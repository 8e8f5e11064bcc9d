/// The id of one run of a gateway process. Never reused, so a restarted gateway counts as another gateway.
package struct GatewayID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Uses an id that one of our own processes made; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The id of one run of a sip-bridge process. Never reused, so a restarted bridge counts as another bridge.
package struct BridgeID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Uses an id that one of our own processes made; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The id of one run of a media node. Never reused, so a restarted node counts as another node.
package struct MediaNodeID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Uses an id that one of our own processes made; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The process that sent a command and waits for the reply.
package enum AskerID: Hashable, Sendable {
    /// A gateway's shard.
    case gateway(GatewayID)
    /// A sip-bridge.
    case bridge(BridgeID)

    /// The text of the process's id.
    package var id: String {
        switch self {
        case .gateway(let gateway): gateway.rawValue
        case .bridge(let bridge): bridge.rawValue
        }
    }
}

/// The public id of one login, unique in the cluster. Unlike the ``Line``, it may appear in logs and events.
package struct SessionID: ByteIdentifier {
    /// Visible ASCII without spaces and separators, at most ``Line/sessionBytes``.
    package let rawValue: String

    /// Uses an id that one of our own processes made; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// Stands for an app's server in messages that it sends: no session has this id.
    package static let server = SessionID("")

    /// Whether this is ``server``.
    package var isServer: Bool { rawValue.isEmpty }
}

/// The id of a command, by which a redelivered command is recognised and takes effect once.
package struct CommandID: ByteIdentifier {
    /// Visible ASCII without spaces.
    package let rawValue: String

    /// Uses an id that one of our own processes made; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The id of a command that results from this one, the same at each redelivery.
    package func derived(_ suffix: String) -> CommandID { CommandID("\(rawValue).\(suffix)") }
}

/// The services that handle commands.
package enum ServiceName: String, Sendable, CaseIterable {
    /// Users: sessions, attributes, mailbox cleaning.
    case presence
    /// Channels: members, attributes.
    case channelState = "channel-state"
    /// Calls.
    case invitation
    /// Telephones.
    case sipBridge = "sip-bridge"
    /// Webhooks.
    case webhooks
    /// Media.
    case media
}
