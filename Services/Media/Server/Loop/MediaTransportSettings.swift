internal import CMediaNode

/// Where a node's socket is bound, and what it takes.
struct MediaTransportSettings: Sendable {
    var address: NumericAddress
    /// 0 for any free one.
    var port: UInt16
    /// Participants of the node, and of a channel.
    var participants: Int
    var members: Int
    /// Audio packets of a participant in a second.
    var audioPackets = MediaNodeBounds().audioPackets

    /// - Parameter dtls: outlives the node.
    func node(dtls: OpaquePointer, woken: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void)
        -> cm_node_settings
    {
        var settings = cm_node_settings()
        settings.has_ipv4 = !address.isIPv6
        settings.has_ipv6 = address.isIPv6
        if address.isIPv6 {
            withUnsafeMutableBytes(of: &settings.ipv6) { $0.copyBytes(from: address.bytes) }
        } else {
            withUnsafeMutableBytes(of: &settings.ipv4) { $0.copyBytes(from: address.bytes) }
        }
        settings.port = port
        settings.limits = cm_node_default_limits()
        settings.limits.participants = UInt32(participants)
        settings.limits.members = UInt32(members)
        settings.limits.audio_packets = UInt32(audioPackets)
        settings.dtls = dtls
        settings.woken = woken
        return settings
    }
}

/// What the loop tells of a participant, besides what it counts.
struct MediaTransportEvent: Equatable, Sendable {
    enum Kind: Sendable {
        /// Nothing authentic has come from the participant for 15 s.
        case dropped
        /// It has sent more than it may for ten seconds.
        case limit
    }

    var kind: Kind
    /// The id under which the participant was added.
    var id: UInt64
}

/// What a participant has sent and received, in bytes of its datagrams.
struct MediaTraffic: Equatable, Sendable {
    var bytesReceived: UInt64 = 0
    var bytesSent: UInt64 = 0
}

/// What has come of a participant's audio since its join.
struct MediaUplinkCounts: Equatable, Sendable {
    /// Packets that it has sent, by their numbers, and those that have arrived.
    var expected: UInt64 = 0
    var received: UInt64 = 0
    /// Between the participant and the node; zero while it is not known.
    var roundTrip = Duration.zero
}

/// Why the loop did not begin, or did not take a participant.
struct MediaTransportError: Error, Equatable, CustomStringConvertible {
    /// An `errno` value.
    var code: Int32
    var act: String

    var description: String { "could not \(act): error \(code)" }
}
