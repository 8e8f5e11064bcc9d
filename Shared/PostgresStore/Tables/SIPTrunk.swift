package import SignalingProtocol

/// An app's SIP peer, which connects its calls to and from telephones.
package struct SIPTrunk: Equatable, Sendable {
    /// How DTMF digits are sent.
    package enum DTMF: String, Sendable, CaseIterable {
        /// RFC 4733 telephone-events when the peer supports them, else SIP INFO.
        case auto
        /// RFC 4733 telephone-events only.
        case rfc4733
        /// SIP INFO only.
        case info
    }

    /// Whether media is encrypted.
    package enum SRTP: String, Sendable, CaseIterable {
        /// Never.
        case off
        /// When the peer supports it.
        case optional
        /// Always: calls with a peer that does not support it fail.
        case required
    }

    /// The app that owns the trunk; an app has at most one.
    package var app: AppID
    /// The peer's host name or IP address.
    package var host: String
    /// The peer's port, 1...65535.
    package var port: Int
    /// The transport protocol of SIP messages. Over TCP and TLS, one connection is kept open and reused.
    package var transport: SIPTransport
    /// The user name for digest authentication and registration; default none.
    package var authUser: String?
    /// The password of `authUser`. Never logged.
    package var secret: String?
    /// The domain of the From header; default nil, to use `host`.
    package var fromDomain: String?
    /// Whether the bridge registers with the peer; default false.
    package var register = false
    /// How DTMF digits are sent; default automatically.
    package var dtmf = DTMF.auto
    /// Whether media is encrypted; default never.
    package var srtp = SRTP.off
    /// How long a telephone may ring: 1 s to an hour, in whole seconds; default a minute.
    package var ringTime = Duration.seconds(60)
    /// Whether requests from addresses other than the peer's are accepted with digest authentication.
    package var acceptDigest = false
    /// Whether the SIP messages of the trunk's calls are logged.
    package var trace = false
    /// The URI sent as P-Asserted-Identity (RFC 3325) for every caller; nil to omit the header.
    package var assertedIdentity: String?
    /// The value of the Privacy header (RFC 3323), such as `id`; nil to omit the header.
    package var privacy: String?
    /// The rules for the app users' phone calls.
    package var policy = PhonePolicy()
    /// Whether the app accepts logins without a token. Read with the trunk, but stored with the app;
    /// ignored when the trunk is set.
    package var isOfOpenApp = false
    /// When the trunk was last set, in Unix milliseconds; 0 before it is stored.
    package var updatedAt: Int64 = 0

    /// Creates a trunk that is not stored yet.
    /// - Parameter port: nil for the transport's default port.
    package init(app: AppID, host: String, port: Int? = nil, transport: SIPTransport = .udp) {
        self.app = app
        self.host = host
        self.port = port ?? transport.standardPort
        self.transport = transport
    }
}
