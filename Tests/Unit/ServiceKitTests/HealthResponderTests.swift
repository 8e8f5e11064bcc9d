import NIOHTTP1
import Testing

@testable import ServiceKit

@Suite("Responses of the health listener")
struct HealthResponderTests {
    private func responder(
        _ checks: [ReadinessCheck] = [], observe: @escaping @Sendable () async -> Void = {}
    ) -> HealthResponder {
        var reader = EnvironmentReader(environment: ["HELIOGRAPH_INSTANCE": "p\"1"])
        return HealthResponder(
            configuration: ServiceConfiguration(service: "presence", reading: &reader),
            checks: checks,
            routes: [
                HTTPRoute("/getaddr") { .json("[]", headers: ["Cache-Control": "no-store"]) },
                HTTPRoute("/getaddr") { .json("[1]") },
            ],
            details: { [HealthDetail("sipPort", 5060)] }, observe: observe)
    }

    private func metricsContentType(_ responder: HealthResponder) async -> String {
        await responder.answer(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/metrics")).contentType
    }

    private func get(_ target: String, from responder: HealthResponder) async -> (UInt, String) {
        let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        let answer = await responder.answer(request)
        return (answer.status.code, String(decoding: answer.body, as: UTF8.self))
    }

    @Test("/healthz names the service and the instance")
    func alive() async {
        let (status, body) = await get("/healthz", from: responder())
        #expect(status == 200)
        #expect(
            body == #"{"status":"alive","service":"presence","instance":"p\"1","sipPort":5060}"# + "\n")
    }

    @Test("/readyz fails when a dependency fails, and names it")
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

    @Test("/readyz tells what is wrong with a dependency that can be used")
    func remarks() async {
        let limping = ReadinessCheck.withRemarks(name: "redis") { .works(remark: "no answer from a") }
        let away = ReadinessCheck.withRemarks(name: "redis") { .fails("no answer from a, b") }
        var (status, body) = await get("/readyz", from: responder([limping]))
        #expect(status == 200)
        #expect(
            body == #"{"status":"ready","checks":{"redis":"ok, but no answer from a"},"failing":[]}"# + "\n")
        (status, body) = await get("/readyz", from: responder([away]))
        #expect(status == 503)
        #expect(body.contains(#""redis":"no answer from a, b""#))
    }

    @Test("/readyz fails while the process drains")
    func draining() async {
        let responder = responder()
        responder.state.startDraining()
        let (status, body) = await get("/readyz", from: responder)
        #expect(status == 503)
        #expect(body.contains("draining"))
    }

    @Test("/metrics does not wait for a store that hangs", .timeLimit(.minutes(1)))
    func hangingStore() async {
        ProcessMetrics.declare()
        let (hang, end) = AsyncStream.makeStream(of: Never.self)
        let hanging = responder(observe: { for await _ in hang {} })
        #expect(await get("/metrics", from: hanging).1.contains("process_open_fds"))
        end.finish()
    }

    @Test("A service's routes, /metrics and unknown paths")
    func paths() async {
        #expect(await get("/getaddr?vid=a%20b&vid=c", from: responder()) == (200, "[]"))
        ProcessMetrics.declare()
        #expect(await get("/metrics", from: responder()).1.contains("process_open_fds"))
        #expect(await metricsContentType(responder()) == "text/plain; version=0.0.4; charset=utf-8")
        #expect(await get("/nothing", from: responder()).0 == 404)
    }

    @Test("A check that does not answer in time has failed")
    func hangingCheck() async {
        let hanging = ReadinessCheck(name: "redis") {
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return nil
        }
        let (status, body) = await get("/readyz", from: responder([hanging]))
        #expect(status == 503)
        #expect(body.contains(#""redis":"no answer within 3s""#))
    }
}
