import RedisStore
import SignalingProtocol
import SignalingWire
import Testing

/// The text of a gateway's lease.
@Suite struct GatewayLeaseTests {
    private let lease = GatewayLease(host: "10.0.0.1", port: 8000, connections: 17)
    private let golden = "4:host8:10.0.0.14:port4:800011:connections2:17"

    private func read(_ text: String) throws -> GatewayLease {
        try GatewayLease(from: FieldReader(encoded: Array(text.utf8)))
    }

    @Test func `its bytes`() throws {
        var writer = FieldWriter()
        lease.write(to: &writer)
        #expect(String(decoding: writer.encoded, as: UTF8.self) == golden)
        #expect(try read(golden) == lease)
    }

    @Test func `fields of a later release are ignored, wherever they stand`() throws {
        #expect(try read("4:zone1:a" + golden + "4:load2:99") == lease)
    }

    @Test(
        arguments: [
            "", "{}", #"{"host":"10.0.0.1","port":8000,"connections":17}"#,
            "4:host8:10.0.0.14:port4:8000", "4:host8:10.0.0.14:port4:80x011:connections2:17",
            "4:host8:10.0.0.14:port4:800011:connections2:1",
        ])
    func `other text is no lease`(_ text: String) {
        #expect(throws: SignalingError.self) { try read(text) }
    }
}
