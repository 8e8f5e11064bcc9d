import SignalingWire
import Testing

@testable import GatewayAPILogic

@Suite struct BatchResultsTests {
    private func bytes(_ results: BatchResults) -> [UInt8] {
        var bytes: [UInt8] = []
        results.json.append(to: &bytes)
        return bytes
    }

    @Test func whatHasNoResultOrMaySucceedLaterIsOpen() throws {
        var results = BatchResults(count: 4)
        #expect(results.open == [0, 1, 2, 3])
        results.set(0, .object([JSONMember("version", .number("7"))]))
        results.set(1, APIProblem(.rateLimited, "wait"))
        results.set(2, APIProblem(.mailboxFull, "full"))
        results.set(3, APIProblem(.timeout, "unknown"))
        #expect(results.open == [1, 3])
        let read = try #require(BatchResults(bytes(results)))
        #expect(read == results)
        #expect(read.json.compactText.hasPrefix(#"{"failed":3,"results":[{"version":7},{"error":"#))
    }

    @Test func nothingIsOpenOnceAllHaveLastingResults() {
        var results = BatchResults(count: 2)
        results.set(0, .object([JSONMember("id", .number("1"))]))
        results.set(1, APIProblem(.mailboxFull, "full"))
        #expect(!results.isOpen)
        #expect(BatchResults(count: 0).isOpen == false)
    }

    @Test func anotherAnswerIsNoBatch() {
        #expect(BatchResults(Array(#"{"version":7}"#.utf8)) == nil)
        #expect(BatchResults(Array("not JSON".utf8)) == nil)
    }
}
