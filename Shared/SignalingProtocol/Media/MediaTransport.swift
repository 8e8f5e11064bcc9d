/// What a participant brings for its path to the node.
package enum MediaTransportOffer: Equatable, Sendable {
    /// An engine's X25519 key in base64, and the names of its codecs, such as `opus`.
    case engine(publicKey: String, codecs: [String])
    /// A page's offer: a session description.
    case web(offer: String)
}

/// The node's side of a participant's path.
package enum MediaTransportAnswer: Equatable, Sendable {
    case engine(EngineTransport)
    /// A session description.
    case web(answer: String)
}

/// What an engine needs to send to a node, and to receive from it.
package struct EngineTransport: Equatable, Sendable {
    /// Where the node receives.
    package var candidates: [MediaCandidate]
    /// The node's credentials of ICE (RFC 8445): the user name fragment and the password of checks to it.
    package var ufrag: String
    package var password: String
    /// The node's X25519 key in base64.
    package var publicKey: String
    /// The SRTP profile (RFC 7714): `AEAD_AES_128_GCM`.
    package var suite: String
    /// The SSRC that the engine sends its audio with.
    package var audioSource: UInt32
    /// The SSRCs that it gets audio with, one for each slot.
    package var audioSlots: [UInt32]
    /// The payload type of Opus, in both directions.
    package var opus: Int

    package init(
        candidates: [MediaCandidate], ufrag: String, password: String, publicKey: String, suite: String,
        audioSource: UInt32, audioSlots: [UInt32], opus: Int
    ) {
        self.candidates = candidates
        self.ufrag = ufrag
        self.password = password
        self.publicKey = publicKey
        self.suite = suite
        self.audioSource = audioSource
        self.audioSlots = audioSlots
        self.opus = opus
    }
}

/// An address at which a node receives media.
package struct MediaCandidate: Hashable, Sendable {
    /// `udp` or `tcp`.
    package var transport: String
    /// An IPv4 or IPv6 address.
    package var address: String
    package var port: Int

    package init(transport: String, address: String, port: Int) {
        self.transport = transport
        self.address = address
        self.port = port
    }
}
