internal import SIPBridgeLogic

/// The state between the session descriptions of one call.
///
/// An SDP object of libre's serves one exchange, since it cannot be rolled back when a description is refused. This keeps what
/// makes the next one consistent with the last.
struct MediaDescriptions {
    /// How our last offer was made, for reading its answers: there may be several, in 183 and 200.
    struct Offer: Equatable {
        /// The description that tells the order of the streams.
        var layout: [UInt8]?
        var profiles: UInt32
        var crypto: MediaCrypto?
    }

    /// The payload type of telephone-event in our first offer.
    static let eventType: Int32 = 101

    /// Our SRTP key for the whole call; nil when there is to be none.
    let key: MediaCrypto?
    /// The last offer of the peer that was accepted: later offers must have the same streams at the same places.
    var layout: [UInt8]?
    /// Our latest offer, until the peer makes one.
    var offer: Offer?

    private let id = UInt32.random(in: 0 ... .max)
    private var version: UInt32 = 1
    /// The last description that was made, without its `o=` line.
    private var sent: [UInt8]?

    init(key: MediaCrypto?) { self.key = key }

    /// Puts our own `o=` line into a description of libre's, which begins `v=0`, `o=- ID VERSION IN ...`.
    ///
    /// The version rises exactly when something else than the line changed (RFC 3264 section 8).
    mutating func sign(_ description: [UInt8]) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        guard let first = description.firstIndex(of: newline),
            let second = description[(first + 1)...].firstIndex(of: newline)
        else {
            assertionFailure("libre wrote a description of fewer than two lines")
            return description
        }
        let line = String(decoding: description[(first + 1)...second], as: UTF8.self)
        let fields = line.split(separator: " ", maxSplits: 3)
        let rest = Array(description[...first] + description[(second + 1)...])
        if let sent, sent != rest { version &+= 1 }
        sent = rest
        return Array(description[...first]) + Array("\(fields[0]) \(id) \(version) \(fields[3])".utf8)
            + Array(description[(second + 1)...])
    }
}
