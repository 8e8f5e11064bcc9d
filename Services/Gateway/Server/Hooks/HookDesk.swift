internal import BusProtocol
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import Pacing
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import WebhookClient

/// The before-hooks of a shard's apps: asks their servers, each within its own bounds, so that one
/// that hangs holds up no other app.
///
/// Belongs to the shard's event loop. The requests themselves run on other loops.
final class HookDesk {
    /// The most questions under way, of all apps together.
    static let bound = 4096

    private final class Hook {
        let settings: BeforeHook
        var breaker: HookBreaker
        var shares: HookShares

        init(_ settings: BeforeHook) {
            self.settings = settings
            breaker = HookBreaker(bound: settings.requests)
            shares = HookShares(of: settings.requests)
        }

        /// Counts a question that is about to be asked.
        /// - Returns: whether it is a probe.
        /// - Throws: why it is not to be asked.
        func begin(_ client: Client) throws(HookFailure) -> Bool {
            guard shares.hasRoom(for: client.key) else { throw .share }
            let isProbe = try breaker.ask(now: .now)
            shares.asked(client.key)
            return isProbe
        }
    }

    /// Whose question it is.
    struct Client {
        /// The IP address that the server is told.
        let address: String
        /// What questions are counted under; nil when they are not.
        let key: ClientAddress?
    }

    private let transport: WebhookTransport
    private let eventLoop: any EventLoop
    private let logger: Logger
    private var hooks: [AppID: Hook] = [:]
    /// The number of questions under way.
    private(set) var underWay = 0

    init(transport: WebhookTransport, eventLoop: any EventLoop, logger: Logger) {
        self.transport = transport
        self.eventLoop = eventLoop
        self.logger = logger
    }

    /// The number of apps whose breakers are open.
    var openCount: Int { hooks.isEmpty ? 0 : hooks.values.count { $0.breaker.isOpen } }

    /// The apps whose breakers are open, in no order.
    var openApps: [AppID] { hooks.isEmpty ? [] : hooks.compactMap { $0.value.breaker.isOpen ? $0.key : nil } }

    /// What an app's server is asked about, as far as the shard knows.
    func points(of app: AppID) -> HookPoints { hooks[app]?.settings.points ?? HookPoints() }

    /// The same; nil when the shard holds no hook of the app, because it has none or its settings are not known.
    func heldPoints(of app: AppID) -> HookPoints? { hooks[app]?.settings.points }

    /// Takes an app's hook; nil for none.
    /// - Returns: whether other things are asked about than before.
    func adopt(_ settings: BeforeHook?, of app: AppID) -> Bool {
        let former = hooks[app]?.settings
        guard settings != former else { return false }
        hooks[app] = settings.map { Hook($0) }
        return settings?.points ?? HookPoints() != former?.points ?? HookPoints()
    }

    /// Forgets the hooks of other apps, unless their servers are being asked.
    func forget(except apps: Set<AppID>) {
        if hooks.isEmpty { return }
        hooks = hooks.filter { apps.contains($0.key) || $0.value.breaker.underWay > 0 }
    }

    /// Asks an app's server.
    /// - Parameters:
    ///   - client: the client whose call it is.
    ///   - end: when what is asked about must be done; the server has its own deadline besides.
    ///   - callback: gets the verdict, sometimes at once.
    func ask(
        _ question: HookQuestion, of client: Client, until end: NIODeadline,
        _ callback: @escaping (HookVerdict) -> Void
    ) {
        let point = question.point
        guard let hook = hooks[question.app] else {
            // Sessions are told at once when a hook is removed, and do not ask then.
            logger.error("a session asks about a hook that is not known", metadata: ["app": "\(question.app)"])
            return callback(HookVerdict(.failure(.broken), at: point, failsOpen: false))
        }
        let settings = hook.settings
        let isProbe: Bool
        do throws(HookFailure) {
            guard underWay < Self.bound else { throw .busy }
            isProbe = try hook.begin(client)
        } catch {
            GatewayMetrics.shared.hookFailures.increment(error)
            return callback(HookVerdict(.failure(error), at: point, failsOpen: error.failsOpen(with: settings)))
        }
        underWay += 1
        let start = LocalTime.now
        let rest = Duration.nanoseconds((end - NIODeadline.now()).nanoseconds)
        let deadline = Duration.milliseconds(settings.deadline)
        let asked = post(question, settings, client.address, within: max(min(deadline, rest), .zero))
        asked.futureResult.assumeIsolated().whenComplete { [self] result in
            underWay -= 1
            hook.shares.answered(client.key)
            GatewayMetrics.shared.hookDuration.record(since: start)
            let answer = Self.answer(result, at: point)
            count(answer)
            let wasOpen = hook.breaker.isOpen
            // A server that had less than its deadline is not to blame.
            let isExcused = rest < deadline && !isProbe && answer == .failure(.timeout)
            let outcome: Breaker.Outcome = Self.isAlive(result) ? .reached : isExcused ? .unknown : .failed
            hook.breaker.answered(outcome, isProbe: isProbe, now: .now)
            if wasOpen != hook.breaker.isOpen { tell(question.app, answer, isOpen: hook.breaker.isOpen) }
            callback(HookVerdict(answer, at: point, failsOpen: settings.failsOpen))
        }
    }

    private func post(
        _ question: HookQuestion, _ settings: BeforeHook, _ address: String, within time: Duration
    ) -> EventLoopPromise<WebhookAnswer> {
        let promise = eventLoop.makePromise(of: WebhookAnswer.self)
        let body = question.body(address: address)
        let message = WebhookTransport.Message(
            body, signature: WebhookSignature.header(of: body, secrets: [settings.secret], time: WallClock.seconds))
        let server = WebhookTransport.Destination(settings.url, allowed: settings.allowed)
        Task { [transport] in
            let answer = await transport.post(message, to: server, within: time, answerBytes: HookAnswer.bytes)
            promise.completeWith(answer.mapError { $0 as any Error })
        }
        return promise
    }

    private static func answer(
        _ result: Result<WebhookAnswer, any Error>, at point: HookPoint
    ) -> Result<HookAnswer, HookFailure> {
        Result { () throws(HookFailure) in
            let answer: WebhookAnswer
            switch result {
            case .success(let received): answer = received
            case .failure(let error as WebhookFailure): throw HookFailure(error.cause)
            case .failure: throw .broken
            }
            if let failure = answer.failure { throw HookFailure(failure.cause) }
            guard answer.isWhole else { throw .answer }
            return try HookAnswer(answer.body, at: point)
        }
    }

    /// Whether the server works, whatever it has answered: to leave it alone would then help nobody.
    private static func isAlive(_ result: Result<WebhookAnswer, any Error>) -> Bool {
        switch result {
        case .success(let answer): answer.isFromServer
        case .failure: false
        }
    }

    private func count(_ answer: Result<HookAnswer, HookFailure>) {
        switch answer {
        case .success(.allow): GatewayMetrics.shared.hookAnswers.increment(.allow)
        case .success(.deny): GatewayMetrics.shared.hookAnswers.increment(.deny)
        case .success(.rewrite): GatewayMetrics.shared.hookAnswers.increment(.rewrite)
        case .failure(let cause): GatewayMetrics.shared.hookFailures.increment(cause)
        }
    }

    /// The beginning and the end of a pause are for operators.
    private func tell(_ app: AppID, _ answer: Result<HookAnswer, HookFailure>, isOpen: Bool) {
        guard isOpen, case .failure(let cause) = answer else {
            return logger.notice("an app's server answers hooks again", metadata: ["app": "\(app)"])
        }
        logger.warning(
            "an app's server does not answer hooks; it is left alone for a while",
            metadata: ["app": "\(app)", "cause": "\(cause.rawValue)", "failures": "\(HookBreaker.failuresBound)"])
    }
}

extension HookFailure {
    /// The same cause, as a hook's failure.
    init(_ cause: WebhookFailure.Cause) {
        self =
            switch cause {
            case .name: .name
            case .address: .address
            case .connect: .connect
            case .timeout: .timeout
            case .broken: .broken
            case .redirect: .redirect
            case .status: .status
            }
    }
}
