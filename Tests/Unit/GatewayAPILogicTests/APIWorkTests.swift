import Testing

@testable import GatewayAPILogic

@Suite struct APIWorkTests {
    @Test func whatWasReadCounts() {
        #expect(APIWork().cost(answer: 300) == 1)
        #expect(APIWork(calls: 0).cost(answer: 0) == 1)
        #expect(APIWork(calls: 8, bytes: 8 * 131_072).cost(answer: 300) == 8 + 64)
        #expect(APIWork().cost(answer: 1 << 20) == 65)
    }
}
