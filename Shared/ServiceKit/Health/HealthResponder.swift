package import NIOHTTP1
internal import SignalingWire

/// Answers the requests to the health listener.
package struct HealthResponder: HTTPResponder {
    /// The time limit of a readiness check; after it the check is cancelled and counts as failed.
    static let checkTimeout: Duration = .seconds(3)

    let state = HealthState()
    private let service: String
    private let instance: String
    private let metrics: PrometheusRegistry
    private let checks: [ReadinessCheck]
    private let routes: [String: HTTPRoute]
    private let details: @Sendable () async -> [HealthDetail]

    /// Creates the responder of a process.
    /// - Parameters:
    ///   - configuration: names the service and the instance.
    ///   - checks: run for each `/readyz`, which answers 503 and names the failed ones if there are any.
    ///   - routes: further routes; if two have the same path, the first is used.
    ///   - details: facts that `/healthz` shows besides the service and the instance.
    package init(
        configuration: ServiceConfiguration, metrics: PrometheusRegistry, checks: [ReadinessCheck] = [],
        routes: [HTTPRoute] = [], details: @escaping @Sendable () async -> [HealthDetail] = { [] }
    ) {
        service = configuration.service
        instance = configuration.instance
        self.metrics = metrics
        self.checks = checks
        self.routes = Dictionary(routes.map { ($0.path, $0) }) { first, _ in first }
        self.details = details
    }

    package func answer(_ request: HTTPRequestHead) async -> HTTPAnswer {
        guard request.method == .GET || request.method == .HEAD else {
            return .json(
                status: .methodNotAllowed, #"{"error":"only GET and HEAD"}"#, headers: ["Allow": "GET, HEAD"])
        }
        return await answer(path: HTTPTarget.path(of: request.uri))
    }

    private func answer(path: String) async -> HTTPAnswer {
        switch path {
        case "/healthz": await alive()
        case "/readyz": await ready()
        case "/metrics":
            HTTPAnswer(
                contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics.text().utf8))
        default:
            if let route = routes[path] {
                await route.answer()
            } else {
                .json(status: .notFound, #"{"error":"no such path"}"#)
            }
        }
    }

    private func alive() async -> HTTPAnswer {
        let facts = [
            HealthDetail("status", "alive"), HealthDetail("service", service), HealthDetail("instance", instance),
        ]
        let members = (facts + (await details())).map(\.member)
        return .json("\(JSONValue.object(members).compactText)\n")
    }

    private func ready() async -> HTTPAnswer {
        let results = await withTaskGroup(of: (Int, String?).self) { group in
            for (index, check) in checks.enumerated() {
                group.addTask { (index, await Self.outcome(check)) }
            }
            var results = [String?](repeating: nil, count: checks.count)
            for await (index, result) in group { results[index] = result }
            return results
        }
        let draining = state.isDraining
        let ready = !draining && results.allSatisfy { $0 == nil }
        let status = draining ? "draining" : ready ? "ready" : "not ready"
        let members = zip(checks, results).map { JSONMember($0.name, .string($1 ?? "ok")) }
        let failing = zip(checks, results).filter { $0.1 != nil }.map { JSONValue.string($0.0.name) }
        let body = JSONValue.object([
            JSONMember("status", .string(status)), JSONMember("checks", .object(members)),
            JSONMember("failing", .array(failing)),
        ])
        return .json(status: ready ? .ok : .serviceUnavailable, "\(body.compactText)\n")
    }

    private static func outcome(_ check: ReadinessCheck) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask { await check.check() }
            group.addTask {
                try? await Task.sleep(for: checkTimeout)
                return "no answer within \(DurationText.text(checkTimeout))"
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
