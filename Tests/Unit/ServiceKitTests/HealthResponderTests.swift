import NIOHTTP1
import Testing

@testable import ServiceKit

@Suite("Answers of the health listener")
struct HealthResponderTests {
    private func responder(_ checks: [ReadinessCheck] = []) -> HealthResponder {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_INSTANCE": "p\"1"])
        return HealthResponder(
            configuration: ServiceConfiguration(service: "presence", reading: &reader), metrics: PrometheusRegistry(),
            checks: checks, routes: [HTTPRoute("/getaddr") { .json("[]", headers: ["Cache-Control": "no-store"]) }],
            details: { [HealthDetail("sipPort", 5060)] })
    }

    private func get(_ target: String, from responder: HealthResponder) async -> (UInt, String) {
        let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        let answer = await responder.answer(request)
        return (answer.status.code, String(decoding: answer.body, as: UTF8.self))
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
        var (status, body) = await get("/readyz", from: responder([good]))
        #expect(status == 200)
        #expect(body == #"{"status":"ready","checks":{"redis":"ok"},"failing":[]}"# + "\n")
        (status, body) = await get("/readyz", from: responder([good, bad]))
        #expect(status == 503)
        #expect(
            body == #"{"status":"not ready","checks":{"redis":"ok","postgres":"refused"},"failing":["postgres"]}"#
                + "\n")
    }

    @Test("Not ready while draining")
    func draining() async {
        let responder = responder()
        responder.state.startDraining()
        let (status, body) = await get("/readyz", from: responder)
        #expect(status == 503)
        #expect(body.contains("draining"))
    }

    @Test("Routes, metrics and nothing")
    func paths() async {
        #expect(await get("/getaddr?vid=a%20b&vid=c", from: responder()) == (200, "[]"))
        #expect(await get("/metrics", from: responder()).1.contains("process_open_fds"))
        #expect(await get("/nothing", from: responder()).0 == 404)
    }
}
