import Testing

@testable import ServiceKit

@Suite("Answers of the health listener")
struct HealthResponderTests {
    private func responder(_ state: HealthState = HealthState(), _ checks: [ReadinessCheck] = []) -> HealthResponder {
        HealthResponder(
            service: "presence", instance: "p\"1", state: state, checks: checks,
            routes: ["/getaddr": HTTPRoute("/getaddr") { .text("vid=\($0.parameters["vid"] ?? "none")") }],
            details: { [HealthDetail("sipPort", 5060)] }, metrics: PrometheusRegistry())
    }

    private func get(_ target: String, from responder: HealthResponder) async -> (Int, String) {
        let answer = await responder.answer(HTTPQuery(target: target))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    @Test("Alive")
    func alive() async {
        let (status, body) = await get("/healthz", from: responder())
        #expect(status == 200)
        #expect(
            body == #"{"status":"alive","service":"presence","instance":"p\"1","sipPort":5060}"# + "\n")
    }

    @Test("Ready only when all dependencies answer, with the name of the one that does not")
    func ready() async {
        let good = ReadinessCheck(name: "redis") { nil }
        let bad = ReadinessCheck(name: "postgres") { "refused" }
        var (status, body) = await get("/readyz", from: responder(HealthState(), [good]))
        #expect(status == 200)
        #expect(body == #"{"status":"ready","checks":{"redis":"ok"},"failing":[]}"# + "\n")
        (status, body) = await get("/readyz", from: responder(HealthState(), [good, bad]))
        #expect(status == 503)
        #expect(
            body == #"{"status":"not ready","checks":{"redis":"ok","postgres":"refused"},"failing":["postgres"]}"#
                + "\n")
    }

    @Test("Not ready while draining")
    func draining() async {
        let state = HealthState()
        state.startDraining()
        let (status, body) = await get("/readyz", from: responder(state))
        #expect(status == 503)
        #expect(body.contains("draining"))
    }

    @Test("Routes, metrics and nothing")
    func paths() async {
        #expect(await get("/getaddr?vid=a%20b&vid=c", from: responder()) == (200, "vid=a b"))
        #expect(await get("/metrics", from: responder()).1.contains("process_open_fds"))
        #expect(await get("/nothing", from: responder()).0 == 404)
    }

    @Test(
        "Query fields",
        arguments: [
            ("/p?a=1&b", ["a": "1", "b": ""]), ("/p?a=%zz%4", ["a": "%zz%4"]), ("/p?%61=x+y", ["a": "x y"]),
            ("/p", [:]),
            ("/p?&&=1", ["": "1"]),
        ])
    func fields(target: String, parameters: [String: String]) {
        #expect(HTTPQuery(target: target).parameters == parameters)
        #expect(HTTPQuery(target: target).path == "/p")
    }
}
