package import SignalingProtocol

/// How an app's calls reach telephones, and how telephones reach it: one SIP peer.
package struct SIPTrunk: Equatable, Sendable {
    /// How SIP messages travel.
    package enum Transport: String, Sendable, CaseIterable {
        /// Datagrams.
        case udp
        /// One connection, kept and used again.
        case tcp
        /// The same, encrypted.
        case tls

        /// The port that the transport has when none is said.
        package var standardPort: Int {
            switch self {
            case .udp, .tcp: 5060
            case .tls: 5061
            }
        }
    }

    /// How digits travel.
    package enum DTMF: String, Sendable, CaseIterable {
        /// As telephone-events where the peer has them, else by INFO.
        case auto
        /// As telephone-events only.
        case rfc4733
        /// By INFO only.
        case info
    }

    /// Whether media is encrypted.
    package enum SRTP: String, Sendable, CaseIterable {
        /// Never.
        case off
        /// Where the peer can.
        case optional
        /// Always: a peer that cannot is not talked to.
        case required
    }

    /// The app; each has one trunk at most.
    package var app: AppID
    /// A host name or an address.
    package var host: String
    /// 1...65535.
    package var port: Int
    /// How SIP messages travel.
    package var transport: Transport
    /// The user name for digest authentication and registration.
    package var authUser: String?
    /// Its secret. Never logged.
    package var secret: String?
    /// The domain in From; the host when nil.
    package var fromDomain: String?
    /// Whether the bridge registers at the peer.
    package var register: Bool
    /// How digits travel.
    package var dtmf: DTMF
    /// Whether media is encrypted.
    package var srtp: SRTP
    /// How long a telephone may ring, seconds; 1...3600.
    package var ringSeconds: Int
    /// Whether requests from other addresses are taken with digest authentication.
    package var acceptDigest: Bool
    /// Whether the SIP messages of its calls are logged.
    package var trace: Bool
    /// What P-Asserted-Identity says of every caller (RFC 3325): a URI; nil to leave it out.
    package var assertedIdentity: String?
    /// What Privacy asks for (RFC 3323), such as `id`; nil to leave it out.
    package var privacy: String?
    /// What the app's users may do with it.
    package var policy: PhonePolicy
    /// Whether the app takes logins without a token. Told by the database, not set with the trunk.
    package var isOfOpenApp: Bool
    /// When it was set, Unix milliseconds; 0 for one that is not stored yet.
    package var updatedAt: Int64

    /// Makes a trunk.
    /// - Parameter port: nil for the transport's own.
    package init(
        app: AppID, host: String, port: Int? = nil, transport: Transport = .udp, authUser: String? = nil,
        secret: String? = nil, fromDomain: String? = nil, register: Bool = false, dtmf: DTMF = .auto,
        srtp: SRTP = .off, ringSeconds: Int = 60, acceptDigest: Bool = false, trace: Bool = false,
        assertedIdentity: String? = nil, privacy: String? = nil, policy: PhonePolicy = PhonePolicy(),
        isOfOpenApp: Bool = false, updatedAt: Int64 = 0
    ) {
        self.app = app
        self.host = host
        self.port = port ?? transport.standardPort
        self.transport = transport
        self.authUser = authUser
        self.secret = secret
        self.fromDomain = fromDomain
        self.register = register
        self.dtmf = dtmf
        self.srtp = srtp
        self.ringSeconds = ringSeconds
        self.acceptDigest = acceptDigest
        self.trace = trace
        self.assertedIdentity = assertedIdentity
        self.privacy = privacy
        self.policy = policy
        self.isOfOpenApp = isOfOpenApp
        self.updatedAt = updatedAt
    }
}
