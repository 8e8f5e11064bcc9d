internal import Glibc
package import ServiceKit

/// The settings of a media node.
package struct MediaConfiguration: Sendable {
    /// The numeric address that the UDP socket is bound to.
    package var host = "127.0.0.1"
    /// The UDP port; 0 for any free one.
    package var port = 7000
    /// The numeric address that participants are told, if it is not the bound one.
    package var publicHost: String?
    /// The audio slots of a receiver: how many others it hears at once; default 6.
    package var audioSlots = 6
    /// What the node takes.
    package var bounds = MediaNodeBounds()

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_MEDIA_...`.
    package init(reading reader: inout EnvironmentReader) {
        host = reader.string("MEDIA_HOST", default: host, "numeric address that the UDP socket binds to")
        port = reader.int("MEDIA_PORT", default: port, in: 0...65_535, "UDP port of all media, 0 for any")
        publicHost = reader.optional(
            "MEDIA_PUBLIC_HOST", "numeric address that participants are told; none: the one bound")
        audioSlots = reader.int(
            "MEDIA_AUDIO_SLOTS", default: audioSlots, in: 1...16, "others whom a participant hears at once")
        bounds.participants = reader.int(
            "MEDIA_PARTICIPANTS", default: bounds.participants, in: 1...20_000, "participants of the node at most")
        bounds.members = reader.int(
            "MEDIA_MEMBERS", default: bounds.members, in: 1...5000, "participants of one channel at most")
        bounds.channels = reader.int(
            "MEDIA_CHANNELS", default: bounds.channels, in: 1...20_000, "channels of the node at most")
        bounds.joinsPerSecond = reader.int(
            "MEDIA_JOINS", default: bounds.joinsPerSecond, in: 1...10_000, "joins per second at most")
        bounds.audioPackets = reader.int(
            "MEDIA_AUDIO_PACKETS", default: bounds.audioPackets, in: 50...2000,
            "audio packets per second of a participant at most")
        check(&reader)
    }

    private func check(_ reader: inout EnvironmentReader) {
        let address = NumericAddress(host)
        if address == nil { reader.reject("MEDIA_HOST", "must be a numeric address") }
        if let publicHost {
            let isUsable = NumericAddress(publicHost).map { !$0.isUnspecified } ?? false
            if !isUsable { reader.reject("MEDIA_PUBLIC_HOST", "must be the numeric address of one machine") }
        } else if address?.isUnspecified ?? false {
            reader.reject("MEDIA_PUBLIC_HOST", "is needed when MEDIA_HOST stands for all addresses of the machine")
        }
    }

    /// The address that participants are told.
    var announcedHost: String { publicHost ?? host }
}

/// What a media node takes. Each bound has a metric: joins that are refused, by reason.
package struct MediaNodeBounds: Equatable, Sendable {
    /// Participants of the node.
    package var participants = 4000
    /// Participants of a channel.
    package var members = 500
    /// Channels.
    package var channels = 2000
    /// Joins in a second.
    package var joinsPerSecond = 200
    /// Audio packets of a participant in a second; further ones are dropped.
    package var audioPackets = 200

    package init() {}
}

/// An IPv4 or IPv6 address as text; of four or sixteen bytes.
struct NumericAddress: Equatable, Sendable {
    let bytes: [UInt8]

    /// Reads an address; nil for a name.
    init?(_ text: String) {
        var ipv4 = in_addr()
        var ipv6 = in6_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            bytes = withUnsafeBytes(of: ipv4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            bytes = withUnsafeBytes(of: ipv6) { Array($0) }
        } else {
            return nil
        }
    }

    var isIPv6: Bool { bytes.count == 16 }
    /// Whether it stands for all addresses of the machine.
    var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }
}
