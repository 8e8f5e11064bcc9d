import ServiceMetrics
import Testing

@testable import GatewayServer

@Suite("Metrics of a gateway")
struct GatewayMetricsTests {
    @Test("Gauges count all shards of the process")
    func allShards() {
        let busy = ShardLoad(
            connections: 2, sessions: 2, channels: 3, outputBytes: 100, requests: 5, detaches: 7,
            hasRing: true)
        let quiet = ShardLoad(connections: 1)
        GatewayMetrics.shared.show([busy, quiet])
        let lines = MetricRegistry.process.text().split(separator: "\n")
        let values = ["connections 3", "sessions 2", "channels 3", "output_waiting_bytes 100", "pending_requests 5"]
        for value in values + ["detaches_waiting 7", "rings 1"] {
            #expect(lines.contains("heliograph_gateway_\(value)"))
        }
    }
}
