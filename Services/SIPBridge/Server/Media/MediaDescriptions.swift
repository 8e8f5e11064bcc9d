internal import SIPBridgeLogic

/// The state that is kept between the session descriptions of one call.
///
/// One of libre's SDP objects serves one exchange, because its state cannot be restored when a description is refused.
/// This state makes the next description consistent with the last one.
struct MediaDescriptions {
    /// The parameters of our last offer, needed to parse its answers; there may be several, in a 183 and a 200.
    struct Offer: Equatable {
        /// The description that determines the order of the streams.
        var layout: [UInt8]?
        var profiles: UInt32
        var crypto: MediaCrypto?
    }

    /// The payload type of telephone-event in our first offer.
    static let eventType: Int32 = 101

    /// Our SRTP key for the whole call; nil for none.
    let key: MediaCrypto?
    /// The last accepted offer from the peer: later offers must have the same streams at the same positions.
    var layout: [UInt8]?
    /// Our latest offer, until the peer makes one.
    var offer: Offer?

    private let id = UInt32.random(in: 0 ... .max)
    private var version: UInt32 = 1
    /// Our last description, without its `o=` line.
    private var sent: [UInt8]?

    init(key: MediaCrypto?) { self.key = key }

    /// Replaces the `o=` line of libre's description, which starts with `v=0` and `o=- ID VERSION IN ...`, by our own.
    ///
    /// The version increases only when something other than this line has changed (RFC 3264, section 8).
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
