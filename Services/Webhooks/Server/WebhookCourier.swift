internal import BusProtocol
internal import Logging
internal import Pacing
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics
internal import SignalingProtocol
internal import Synchronization
internal import WebhookClient
internal import WebhooksLogic

/// Sends the events that wait: for each webhook one request after the other, so that they arrive in order.
///
/// On graceful shutdown no queue is taken any more, and requests under way are finished.
final class WebhookCourier: Service {
    /// The pause between two looks for work.
    private static let pause = Duration.milliseconds(250)
    /// What a lease lasts longer than a request may take.
    private static let leaseMargin = Duration.seconds(3)

    private let queue: WebhookQueue
    private let transport: WebhookTransport
    private let mirrors: MirrorReader
    private let configuration: WebhooksConfiguration
    private let logger: Logger
    private let busy = Mutex(0)

    init(
        queue: WebhookQueue, transport: WebhookTransport, mirrors: MirrorReader, configuration: WebhooksConfiguration,
        logger: Logger
    ) {
        self.queue = queue
        self.transport = transport
        self.mirrors = mirrors
        self.configuration = configuration
        self.logger = logger
    }

    private var lease: Duration { configuration.timeout + Self.leaseMargin }

    func run() async throws {
        await withDiscardingTaskGroup { tasks in
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                do {
                    for (claim, horizon) in try await claims() {
                        change(by: 1)
                        tasks.addTask {
                            await self.deliver(claim, horizon)
                            self.change(by: -1)
                        }
                    }
                } catch {
                    logger.warning("could not look for events to send", metadata: ["error": "\(error)"])
                }
                await cancelWhenGracefulShutdown { _ = await Task.pause(Self.pause * Double.random(in: 0.8...1.2)) }
            }
        }
        await transport.close()
    }

    private func change(by count: Int) {
        let targets = busy.withLock { busy in
            busy += count
            return busy
        }
        WebhooksMetrics.shared.sending.set(targets)
    }

    private func claims() async throws -> [(WebhookQueue.Claim, WebhookQueue.Horizon)] {
        let room = configuration.targets - busy.withLock { $0 }
        guard room > 0, try await queue.hasWork() else { return [] }
        return try await claim(room)
    }

    private func claim(_ count: Int) async throws -> [(WebhookQueue.Claim, WebhookQueue.Horizon)] {
        let horizon = WebhookQueue.Horizon(microseconds: await microseconds(), patience: configuration.holding)
        return try await queue.claim(count, lease: lease, horizon).map { ($0, horizon) }
    }

    /// The time up to which all events are in the queue. While Redis does not answer, only events
    /// are sent that have waited long.
    private func microseconds() async -> Int64 {
        do {
            return try await mirrors.horizon(settling: configuration.settling)
        } catch {
            logger.debug("could not read the places of the mirrors", metadata: ["error": "\(error)"])
            return 0
        }
    }

    /// Sends what waits for a webhook. When its turn ends while more waits, the one that was served longest ago has the
    /// next one: that may be the same.
    private func deliver(_ claim: WebhookQueue.Claim, _ horizon: WebhookQueue.Horizon) async {
        var next: (WebhookQueue.Claim, WebhookQueue.Horizon)? = (claim, horizon)
        while let (claim, horizon) = next {
            next = nil
            do {
                guard try await serve(claim, horizon) else { return }
            } catch {
                // The lease ends by itself. What was delivered without being noted is delivered again.
                return logger.warning(
                    "could not note a delivery", metadata: ["webhook": "\(claim.webhook.key)", "error": "\(error)"])
            }
            do {
                next = try await self.claim(1).first
            } catch {
                logger.warning("could not look for events to send", metadata: ["error": "\(error)"])
            }
        }
    }

    /// One turn of a webhook: until nothing waits, a request fails, its time is over, or the process stops.
    /// - Returns: whether more may wait.
    private func serve(_ claim: WebhookQueue.Claim, _ horizon: WebhookQueue.Horizon) async throws -> Bool {
        var (webhook, turn) = (claim.webhook, WebhookTurn(failures: claim.attempts, now: .now))
        var mayWait = true
        while !Task.isShuttingDownGracefully, !turn.isOver(at: .now) {
            let events = try await queue.next(webhook.key, limit: webhook.batch, horizon)
            mayWait = !events.isEmpty
            guard mayWait else { break }
            let sent = await send(events, webhook)
            if let failure = sent.failure {
                turn.failed()
                try await failed(webhook, turn.failures, failure, sent.exchange)
                mayWait = false
                break
            }
            turn.succeeded()
            WebhooksMetrics.shared.delivered.increment(by: events.count)
            guard let current = try await queue.delivered(events, of: webhook.key, sent.exchange, lease: lease)
            else { return false }
            // A new URL and secret are used from the next request on.
            webhook = current
        }
        try await queue.release(webhook.key)
        return mayWait && !Task.isShuttingDownGracefully
    }

    /// - Returns: why the events were not taken, nil when they were; and the request for the log.
    private func send(
        _ events: [WebhookQueue.Event], _ webhook: Webhook
    ) async -> (failure: WebhookFailure?, exchange: WebhookQueue.Exchange) {
        let body = WebhookRequest.body(app: webhook.key.app.rawValue, events: events.map(\.body))
        let message = WebhookTransport.Message(
            body, signature: WebhookSignature.header(of: body, secrets: webhook.secrets, time: WallClock.seconds))
        let start = ContinuousClock.now
        let answer = await transport.post(
            message, to: WebhookTransport.Destination(webhook.url, allowed: webhook.allowed),
            within: configuration.timeout, answerBytes: WebhookTransport.ignoredAnswerBytes)
        var exchange = WebhookQueue.Exchange(
            events: events.count, status: nil, duration: ContinuousClock.now - start)
        WebhooksMetrics.shared.requests.record(exchange.duration)
        switch answer {
        case .success(let answer):
            exchange.status = answer.status
            return (answer.failure, exchange)
        case .failure(let failure):
            return (failure, exchange)
        }
    }

    private func failed(
        _ webhook: Webhook, _ failures: Int64, _ failure: WebhookFailure, _ exchange: WebhookQueue.Exchange
    ) async throws {
        let pause = configuration.retries.delay(
            attempt: Int(clamping: failures) - 1, fromHalfBy: .random(in: 0...1))
        WebhooksMetrics.shared.failures.increment(failure.cause)
        try await queue.failed(webhook, failure.text, exchange, pause: pause, lease: lease)
        let dead = try await expire(webhook.key, failure)
        // The first failure, and each that costs events, are for operators.
        logger.log(
            level: failures == 1 || dead > 0 ? .warning : .debug, "a webhook failed",
            metadata: [
                "webhook": "\(webhook.key)", "cause": "\(failure.cause.rawValue)", "error": "\(failure.text)",
                "failures": "\(failures)", "pause": "\(pause)", "dead": "\(dead)",
            ])
    }

    /// Makes dead letters of what has waited too long, in portions.
    private func expire(_ key: WebhookKey, _ failure: WebhookFailure) async throws -> Int {
        var (dead, portion) = (0, WebhookQueue.portion)
        while portion == WebhookQueue.portion, !Task.isShuttingDownGracefully {
            portion = try await queue.expire(key, failure.text, olderThan: configuration.patience, lease: lease)
            WebhooksMetrics.shared.dead.increment(by: portion)
            dead += portion
        }
        return dead
    }
}
