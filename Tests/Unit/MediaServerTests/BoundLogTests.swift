import Logging
import SignalingProtocol
import Synchronization
import Testing

@testable import MediaServer

@Suite struct BoundLogTests {
    /// Keeps what is logged, in words.
    private final class Kept: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private struct Handler: LogHandler {
        let kept: Kept
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let words = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
            kept.add("\(event.level) \(words)")
        }
    }

    @Test func aReasonIsLoggedOnceASecond() {
        let kept = Kept()
        let log = BoundLog(Logger(label: "test") { _ in Handler(kept: kept) })
        let start = ContinuousClock.now
        func hit(_ reason: MediaRefusal, _ milliseconds: Int) {
            log.hit(reason, in: ServedNode.key, now: start + .milliseconds(milliseconds))
        }
        hit(.channelFull, 0)
        hit(.channelFull, 1)
        hit(.rateLimited, 2)
        hit(.channelFull, 999)
        hit(.channelFull, 1000)
        hit(.channelFull, 2000)
        let place = "app=\(AppID.test) channel=room"
        #expect(
            kept.all == [
                "warning \(place) reason=channel_full", "warning \(place) reason=rate_limited",
                "warning \(place) more=2 reason=channel_full", "warning \(place) reason=channel_full",
            ])
    }

    @Test func onlyBoundsAreLogged() {
        #expect(MediaRefusal.allCases.filter(\.isOfABound) == [.channelFull, .refused, .rateLimited])
    }
}
