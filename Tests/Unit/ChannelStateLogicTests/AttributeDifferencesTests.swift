import ChannelStateLogic
import SignalingProtocol
import Testing

@Suite struct AttributeDifferencesTests {
    private func attribute(_ name: String, _ value: String) throws -> Attribute {
        Attribute(name: try AttributeName(name), value: value)
    }

    @Test func onlyDifferencesBecomeChanges() throws {
        let cached = [try attribute("a", "1"), try attribute("b", "2"), try attribute("gone", "x")]
        let read = [try attribute("a", "1"), try attribute("b", "3"), try attribute("new", "")]
        #expect(
            AttributeDifferences.between(cached, and: read) == [
                .update(try attribute("b", "3")), .update(try attribute("new", "")),
                .delete(try AttributeName("gone")),
            ])
        #expect(AttributeDifferences.between(read, and: read).isEmpty)
        #expect(AttributeDifferences.between([], and: []).isEmpty)
    }

    @Test func valuesAreComparedByBytes() throws {
        let cached = [try attribute("a", "\u{E9}")]
        let read = [try attribute("a", "e\u{301}")]
        #expect(AttributeDifferences.between(cached, and: read).count == 1)
    }

    @Test func deletionsComeLastAndSorted() throws {
        let cached = try ["b", "d", "a", "c"].map { try attribute($0, "1") }
        let new = try attribute("new", "2")
        let deletions = try ["a", "b", "c", "d"].map { AttributeChange.delete(try AttributeName($0)) }
        #expect(AttributeDifferences.between(cached, and: [new]) == [.update(new)] + deletions)
    }
}
