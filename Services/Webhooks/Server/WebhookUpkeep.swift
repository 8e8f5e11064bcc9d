internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics

/// Keeps the queue and the dead letters within their bounds, and shows how much waits.
struct WebhookUpkeep: Service {
    /// The portions of a webhook's events that a pass removes at most: then the others have theirs.
    private static let portions = 10
    /// The pause between two portions, in which PostgreSQL does other work.
    private static let pause = Duration.milliseconds(20)

    let queue: WebhookQueue
    let configuration: WebhooksConfiguration
    let logger: Logger

    func run() async throws {
        await PeriodicTask(
            every: configuration.upkeep, jitter: 0.75...1.25, complaint: "could not check the webhooks' queue",
            logger: logger
        ).run { try await round() }
    }

    /// Passes over all webhooks, until nothing is far above its bound.
    private func round() async throws {
        while !Task.isCancelled {
            let shed = try await shedPass()
            let buried = try await buryPass()
            let forgotten = try await forgetPass()
            if max(shed, buried, forgotten) < WebhookQueue.portion { return }
        }
    }

    /// Looks at each queue, and makes dead letters of the events beyond its bound. A queue that cannot be read is
    /// left out.
    /// - Returns: by how many events the fullest queue was beyond its bound.
    private func shedPass() async throws -> Int {
        var (most, events, oldest) = (0, 0, 0.0)
        for key in try await queue.webhooks() {
            await unlessItFails(key) {
                let (backlog, shed) = try await keepBound(of: key)
                most = max(most, shed)
                events += backlog.events
                oldest = max(oldest, backlog.oldest)
            }
        }
        WebhooksMetrics.shared.backlog.set(events)
        WebhooksMetrics.shared.oldest.set(oldest)
        return most
    }

    /// - Returns: what waits, and how many events became dead letters.
    private func keepBound(of key: WebhookKey) async throws -> (WebhookQueue.Backlog, shed: Int) {
        let bound = configuration.backlog
        var backlog = try await queue.backlog(key, upTo: bound + 1)
        guard backlog.events > bound else { return (backlog, 0) }
        guard let last = try await queue.excess(key, keeping: bound) else { return (backlog, 0) }
        let shed = try await inPortions {
            let portion = try await queue.shed(key, upTo: last)
            WebhooksMetrics.shared.dead.increment(by: portion)
            return portion
        }
        if shed > 0 {
            backlog.events = bound
            logger.warning(
                "more events wait for a webhook than may; the oldest are dead letters",
                metadata: ["webhook": "\(key)", "bound": "\(bound)", "events": "\(shed)"])
        }
        return (backlog, shed)
    }

    /// Deletes dead letters that are too old or too many.
    /// - Returns: the most that were deleted for one reason.
    private func buryPass() async throws -> Int {
        let old = try await inPortions { bury(try await queue.buryDead(olderThan: configuration.deadKept)) }
        var most = old
        for key in try await queue.webhooksWithDead() {
            await unlessItFails(key) {
                guard let last = try await queue.excessDead(key, keeping: configuration.backlog) else { return }
                most = max(most, try await inPortions { bury(try await queue.buryDead(key, upTo: last)) })
            }
        }
        return most
    }

    /// Forgets requests that are too old or too many, and secrets whose time is over.
    /// - Returns: the most requests that were forgotten for one reason.
    private func forgetPass() async throws -> Int {
        try await queue.forgetFormerSecrets()
        var most = try await inPortions { try await queue.forgetRequests(olderThan: WebhookQueue.requestsKeptFor) }
        for key in try await queue.webhooks() {
            await unlessItFails(key) {
                guard let last = try await queue.excessRequests(key, keeping: WebhookQueue.requestsKept) else { return }
                most = max(most, try await inPortions { try await queue.forgetRequests(key, upTo: last) })
            }
        }
        return most
    }

    private func bury(_ count: Int) -> Int {
        WebhooksMetrics.shared.buried.increment(by: count)
        return count
    }

    /// Removes portions until one is not full, but not more than ``portions``.
    /// - Returns: how many rows were removed.
    private func inPortions(_ remove: () async throws -> Int) async throws -> Int {
        var removed = 0
        for _ in 0..<Self.portions {
            let portion = try await remove()
            removed += portion
            guard portion == WebhookQueue.portion, await Task.pause(Self.pause) else { break }
        }
        return removed
    }

    private func unlessItFails(_ key: WebhookKey, _ work: () async throws -> Void) async {
        do {
            try await work()
        } catch {
            logger.warning("could not check a webhook", metadata: ["webhook": "\(key)", "error": "\(error)"])
        }
    }
}
