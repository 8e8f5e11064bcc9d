/// Answers the health listener's requests; knows no sockets.
struct HealthResponder: Sendable {
    /// How long a readiness check may take; it is cancelled then and counts as failed.
    static let checkTimeout: Duration = .seconds(3)

    let service: String
    let instance: String
    let state: HealthState
    let checks: [ReadinessCheck]
    let routes: [String: HTTPRoute]
    let details: @Sendable () async -> [HealthDetail]
    let metrics: PrometheusRegistry

    func answer(_ query: HTTPQuery) async -> HTTPAnswer {
        switch query.path {
        case "/healthz": await alive()
        case "/readyz": await ready()
        case "/metrics":
            HTTPAnswer(
                contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics.text().utf8))
        default:
            if let route = routes[query.path] {
                await route.answer(query)
            } else {
                .json(status: 404, #"{"error":"no such path"}"#)
            }
        }
    }

    private func alive() async -> HTTPAnswer {
        let facts = [
            HealthDetail("status", "alive"), HealthDetail("service", service), HealthDetail("instance", instance),
        ]
        let members = (facts + (await details())).map { "\(JSONEscape.string($0.name)):\($0.json)" }
        return .json("{\(members.joined(separator: ","))}\n")
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
        let members = zip(checks, results).map { check, result in
            "\(JSONEscape.string(check.name)):\(JSONEscape.string(result ?? "ok"))"
        }
        let failing = zip(checks, results).filter { $0.1 != nil }.map { JSONEscape.string($0.0.name) }
        let body =
            #"{"status":"\#(status)","checks":{\#(members.joined(separator: ","))},"#
            + #""failing":[\#(failing.joined(separator: ","))]}"# + "\n"
        return .json(status: ready ? 200 : 503, body)
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
