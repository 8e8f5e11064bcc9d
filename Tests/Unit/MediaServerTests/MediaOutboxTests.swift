import BusProtocol
import SignalingProtocol
import Synchronization
import Testing

@testable import MediaServer

/// Publications on their way to Redis.
@Suite struct MediaOutboxTests {
    private final class Sent: Sendable {
        let batches = Mutex<[[Int64]]>([])
    }

    private func add(_ n: Int64, to outbox: MediaOutbox) {
        outbox.add(
            ServedNode.gateways[0],
            MediaPublication(participants: [], channel: .test, event: .left(uid: 1, reason: .quit, n: n)))
    }

    @Test func publicationsLeaveInTheirOrder() async {
        let sent = Sent()
        let outbox = MediaOutbox { publications in
            let numbers = publications.map { publication in
                if case .left(_, _, let n) = publication.event.event { n } else { Int64(0) }
            }
            sent.batches.withLock { $0.append(numbers) }
            return 0
        }
        let many = Int64(MediaOutbox.batch) + 10
        for n in 1...many { add(n, to: outbox) }
        async let run: Void = outbox.run()
        // What is added before the end is published too.
        outbox.finish()
        await run
        let batches = sent.batches.withLock { $0 }
        #expect(batches.map(\.count) == [MediaOutbox.batch, 10])
        #expect(batches.flatMap(\.self) == Array(1...many))
    }

    @Test func thereIsABound() async {
        let sent = Sent()
        let outbox = MediaOutbox { publications in
            sent.batches.withLock { $0.append([Int64(publications.count)]) }
            return publications.count
        }
        for n in 1...Int64(MediaOutbox.most + 5) { add(n, to: outbox) }
        outbox.finish()
        await outbox.run()
        #expect(sent.batches.withLock { $0.joined().reduce(0, +) } == Int64(MediaOutbox.most))
    }
}
