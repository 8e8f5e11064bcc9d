internal import SIPBridgeLogic
internal import ServiceKit

/// The settings of a bridge's RTP streams.
struct MediaConfiguration: Sendable {
    /// The numeric address that the sockets bind to.
    var address: String
    /// The numeric address announced to peers; required when `address` is a wildcard.
    var publicAddress: String
    /// The UDP ports for RTP and RTCP; each call uses an even port and the next one.
    var ports: MediaPorts
    /// How digits are played.
    var timing = DTMFTiming()

    /// The name of this host in RTCP reports.
    static let reportName = "heliograph"

    init(address: String, publicAddress: String? = nil, ports: MediaPorts = .standard) {
        self.address = address
        self.publicAddress = publicAddress ?? address
        self.ports = ports
    }
}

/// A range of UDP ports.
struct MediaPorts: Equatable, Sendable {
    /// The lowest port, an even number.
    let first: UInt16
    /// The highest port.
    let last: UInt16

    /// 16384 to 32767, as usual for telephone equipment; below the ports that Linux uses for outgoing connections.
    static let standard = MediaPorts(validFirst: 16_384, last: 32_767)

    private init(validFirst first: UInt16, last: UInt16) {
        self.first = first
        self.last = last
    }

    /// Parses `16384-32767`; nil when the text is not a range that starts with an even port and has room for a call.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = UInt16(parts[0]), let last = UInt16(parts[1]), first >= 1024,
            first.isMultiple(of: 2), last > first
        else { return nil }
        self.init(validFirst: first, last: last)
    }

    /// Reads `SIP_RTP_PORTS`.
    static func read(_ reader: inout EnvironmentReader) -> MediaPorts {
        let name = "SIP_RTP_PORTS"
        let text = reader.string(name, default: "16384-32767", "UDP ports for RTP and RTCP, FIRST-LAST, FIRST even")
        guard let ports = MediaPorts(text) else {
            reader.reject(name, "must be FIRST-LAST, where FIRST is even and at least 1024")
            return .standard
        }
        return ports
    }
}

/// Whether a call's media are encrypted (SRTP, keys in the SDP: RFC 4568).
///
/// An offer with `optional` is RTP/AVP with `a=crypto`. A peer without SRTP accepts it and ignores the key, whereas it
/// would refuse RTP/SAVP; a peer with SRTP answers with its key. The keys are only as secret as the SIP messages.
enum MediaSecurity: String, Sendable, CaseIterable {
    /// Plain RTP only.
    case off
    /// SRTP if the peer supports it.
    case optional
    /// SRTP or no call; offered as RTP/SAVP.
    case required
}
