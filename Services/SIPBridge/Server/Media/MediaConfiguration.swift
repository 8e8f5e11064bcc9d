internal import SIPBridgeLogic
internal import ServiceKit

/// Where the RTP streams of a bridge live.
struct MediaConfiguration: Sendable {
    /// The numeric address that the sockets bind to.
    var address: String
    /// The numeric address that peers are told; needed when `address` is a wildcard.
    var publicAddress: String
    /// The UDP ports for RTP and RTCP; each call takes an even one and the next.
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
    /// The lowest, even.
    let first: UInt16
    /// The highest.
    let last: UInt16

    /// 16384 to 32767, as most telephone gear has it; below what Linux gives to outgoing connections.
    static let standard = MediaPorts(validFirst: 16_384, last: 32_767)

    private init(validFirst first: UInt16, last: UInt16) {
        self.first = first
        self.last = last
    }

    /// Reads `16384-32767`; nil when it is no range from an even port on with room for a call.
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
            reader.reject(name, "must be FIRST-LAST, from an even port of at least 1024 on")
            return .standard
        }
        return ports
    }
}

/// Whether a call's media are encrypted (SRTP, keys in the SDP: RFC 4568).
///
/// An offer with `optional` is RTP/AVP with `a=crypto`: a plain peer takes it as it is and ignores the key, whereas it
/// would refuse RTP/SAVP; a peer with SRTP answers with its key. The key is only as secret as the SIP is.
enum MediaSecurity: String, Sendable, CaseIterable {
    /// Plain RTP only.
    case off
    /// SRTP when the peer has it too.
    case optional
    /// SRTP or no call; offers RTP/SAVP.
    case required
}
