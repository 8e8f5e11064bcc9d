/// How well another user is heard, as apps are told it; the numbers are theirs.
///
/// A short form of the E-model (ITU-T G.107) for Opus with repair and concealment: R = 93.2 - Id - Ie, where the delay
/// costs Id = 0.024 d + 0.11 (d - 177.3), the latter for d above 177.3 ms, and the loss of p % costs Ie = 95 p / (p +
/// 20).
package enum AudioQuality: Int, Sendable, Hashable {
    /// Too little was received to say: less than 1 s.
    case unknown = 0
    /// R from 84 on.
    case excellent = 1
    /// R from 74 on.
    case good = 2
    /// R from 64 on.
    case poor = 3
    /// R from 50 on.
    case bad = 4
    /// R below 50.
    case veryBad = 5
    /// No packet for 2 s, while there should be some.
    case down = 6

    /// The rating R of the E-model, at most 93.2.
    ///
    /// - Parameters:
    ///   - delay: from mouth to ear, one way; a negative one counts as none.
    ///   - lostPercent: the packets lost end to end, 0...100, else the nearer end.
    package static func rating(delay: MediaInterval, lostPercent: Double) -> Double {
        let milliseconds = max(0, delay.milliseconds)
        let lost = min(max(lostPercent, 0), 100)
        let delayImpairment = 0.024 * milliseconds + 0.11 * max(0, milliseconds - 177.3)
        return 93.2 - delayImpairment - 95 * lost / (lost + 20)
    }

    /// The quality at that delay and loss.
    package init(delay: MediaInterval, lostPercent: Double) {
        switch Self.rating(delay: delay, lostPercent: lostPercent) {
        case 84...: self = .excellent
        case 74...: self = .good
        case 64...: self = .poor
        case 50...: self = .bad
        default: self = .veryBad
        }
    }
}
