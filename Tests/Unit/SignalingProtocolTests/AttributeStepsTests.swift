import SignalingProtocol
import Testing

@Suite struct AttributeStepsTests {
    private func attributes(_ count: Int, bytes: Int) throws -> [Attribute] {
        try (0..<count).map {
            Attribute(name: try AttributeName("n\($0)"), value: String(repeating: "x", count: bytes))
        }
    }

    @Test func nothingIsOneEmptyStep() { #expect(AttributeSteps.of([Attribute]()) == [[]]) }

    @Test func stepsAreBoundedByCountAndBytes() throws {
        #expect(AttributeSteps.of(try attributes(100, bytes: 1)).map(\.count) == [100])
        #expect(AttributeSteps.of(try attributes(101, bytes: 1)).map(\.count) == [100, 1])
        // Eight names and values of up to 8,002 bytes fit into 64 KiB, nine do not.
        #expect(AttributeSteps.of(try attributes(20, bytes: 8000)).map(\.count) == [8, 8, 4])
    }

    @Test func theOrderIsKept() throws {
        let all = try attributes(333, bytes: 1000).map { AttributeChange.update($0) }
        #expect(AttributeSteps.of(all).flatMap { $0 } == all)
    }

    @Test func anAttributeLargerThanAStepIsAStepOfItsOwn() throws {
        let large = try attributes(3, bytes: AttributeSteps.bytes + 1)
        #expect(AttributeSteps.of(large).map(\.count) == [1, 1, 1])
    }
}
