package import NIOHTTP1
internal import ServiceMetrics
internal import SignalingWire
internal import Synchronization

/// Answers the requests to the health listener.
package struct HealthResponder: HTTPResponder {
    /// The time limit of a readiness check; after it the check is cancelled and counts as failed.
    static let checkTimeout: Duration = .seconds(3)

    let state = HealthState()
    private let service: String
    private let instance: String
    private let checks: [ReadinessCheck]
    private let routes: [String: HTTPRoute]
    private let details: @Sendable () async -> [HealthDetail]
    private let observe: @Sendable () async -> Void

    /// Creates the responder of a process.
    /// - Parameters:
    ///   - configuration: names the service and the instance.
    ///   - checks: run for each `/readyz`, which answers 503 and names the failed ones if there are any.
    ///   - routes: further routes; if two have the same path, the first is used.
    ///   - details: facts that `/healthz` shows besides the service and the instance.
    ///   - observe: called for each `/metrics`, and waited for at most ``checkTimeout``.
    package init(
        configuration: ServiceConfiguration, checks: [ReadinessCheck] = [], routes: [HTTPRoute] = [],
        details: @escaping @Sendable () async -> [HealthDetail] = { [] },
        observe: @escaping @Sendable () async -> Void = {}
    ) {
        service = configuration.service
        instance = configuration.instance
        self.checks = checks
        self.routes = Dictionary(routes.map { ($0.path, $0) }) { first, _ in first }
        self.details = details
        self.observe = observe
    }

    package func answer(_ request: HTTPRequestHead) async -> HTTPAnswer {
        guard request.method == .GET || request.method == .HEAD else {
            return .json(
                status: .methodNotAllowed, #"{"error":"only GET and HEAD"}"#, headers: ["Allow": "GET, HEAD"])
        }
        return await answer(to: request.uri)
    }

    private func answer(to target: String) async -> HTTPAnswer {
        let path = HTTPTarget.path(of: target)
        return switch path {
        case "/healthz": await alive()
        case "/readyz": await ready()
        case "/metrics": await metrics()
        default:
            if let route = routes[path] {
                await route.answer(target)
            } else {
                .json(status: .notFound, #"{"error":"no such path"}"#)
            }
        }
    }

    private func metrics() async -> HTTPAnswer {
        await Self.briefly(observe)
        return HTTPAnswer(
            contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(MetricRegistry.process.text().utf8))
    }

    /// Waits for an act, but no longer than ``checkTimeout``.
    private static func briefly(_ act: @escaping @Sendable () async -> Void) async {
        let (done, finishing) = AsyncStream.makeStream(of: Void.self)
        // No child tasks, for whose ends this would wait.
        Task {
            await act()
            finishing.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: checkTimeout)
            finishing.finish()
        }
        for await _ in done {}
        timer.cancel()
    }

    private func alive() async -> HTTPAnswer {
        let facts = [
            HealthDetail("status", "alive"), HealthDetail("service", service), HealthDetail("instance", instance),
        ]
        let members = (facts + (await details())).map(\.member)
        return .json("\(JSONValue.object(members).compactText)\n")
    }

    private func ready() async -> HTTPAnswer {
        let outcomes = await withTaskGroup(of: (Int, ReadinessCheck.Outcome).self) { group in
            for (index, check) in checks.enumerated() {
                group.addTask { (index, await Self.outcome(check)) }
            }
            var outcomes = [ReadinessCheck.Outcome](repeating: .works(), count: checks.count)
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
        var members: [JSONMember] = []
        var failing: [JSONValue] = []
        for (check, outcome) in zip(checks, outcomes) {
            members.append(JSONMember(check.name, outcome.text))
            if case .fails = outcome { failing.append(.string(check.name)) }
        }
        let draining = state.isDraining
        let ready = !draining && failing.isEmpty
        let status = draining ? "draining" : ready ? "ready" : "not ready"
        let body = JSONValue.object([
            JSONMember("status", status), JSONMember("checks", .object(members)),
            JSONMember("failing", .array(failing)),
        ])
        return .json(status: ready ? .ok : .serviceUnavailable, "\(body.compactText)\n")
    }

    private static func outcome(_ check: ReadinessCheck) async -> ReadinessCheck.Outcome {
        await withTaskGroup(of: ReadinessCheck.Outcome.self) { group in
            group.addTask { await check.outcome() }
            group.addTask {
                try? await Task.sleep(for: checkTimeout)
                return .fails("no answer within \(DurationText.text(checkTimeout))")
            }
            defer { group.cancelAll() }
            return await group.next() ?? .works()
        }
    }
}

extension ReadinessCheck.Outcome {
    /// The outcome as `/readyz` shows it.
    fileprivate var text: String {
        switch self {
        case .works(nil): "ok"
        case .works(let remark?): "ok, but \(remark)"
        case .fails(let reason): reason
        }
    }
}

/// Whether the process is draining; if so, `/readyz` answers 503.
final class HealthState: Sendable {
    private let draining = Mutex(false)

    var isDraining: Bool { draining.withLock { $0 } }

    func startDraining() { draining.withLock { $0 = true } }
}
