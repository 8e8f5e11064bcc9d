internal import BusProtocol
internal import ServiceMetrics
internal import SignalingProtocol
internal import Synchronization

/// Publications that wait for Redis, which takes them in their order. None is repeated:
/// clients see the gap in the numbers.
final class MediaOutbox: Sendable {
    /// The publications that may wait; further ones are lost, and counted.
    static let most = 20_000
    /// Sent to Redis at once.
    static let batch = 512

    typealias Publication = (asker: AskerID, event: MediaPublication)

    private let waiting = Mutex<[Publication]>([])
    private let filled: AsyncStream<Void>
    private let fill: AsyncStream<Void>.Continuation
    /// Publishes some; returns how many Redis did not take.
    private let send: @Sendable ([Publication]) async -> Int

    init(send: @escaping @Sendable ([Publication]) async -> Int) {
        self.send = send
        (filled, fill) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a publication; may be called from any thread.
    func add(_ asker: AskerID, _ event: MediaPublication) {
        let isAdded = waiting.withLock { waiting in
            guard waiting.count < Self.most else { return false }
            waiting.append((asker, event))
            return true
        }
        if isAdded { fill.yield() } else { MediaMetrics.shared.eventsLost.increment() }
    }

    /// Publishes what is added until ``finish()``, and then the rest.
    func run() async {
        for await _ in filled { await publishAll() }
        await publishAll()
    }

    /// Ends ``run()`` when everything is published.
    func finish() { fill.finish() }

    private func publishAll() async {
        while true {
            let batch = waiting.withLock { waiting in
                let batch = Array(waiting.prefix(Self.batch))
                waiting.removeFirst(batch.count)
                return batch
            }
            guard !batch.isEmpty else { return }
            let lost = await send(batch)
            MediaMetrics.shared.events.increment(by: batch.count - lost)
            MediaMetrics.shared.eventsLost.increment(by: lost)
        }
    }
}
