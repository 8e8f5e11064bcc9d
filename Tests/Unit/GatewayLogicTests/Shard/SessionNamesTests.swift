import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct SessionNamesTests {
    /// As many bytes as Swift keeps in place.
    private static let inPlace = 15

    @Test func namesAreShortAndDiffer() {
        var (one, other) = (SessionNames(), SessionNames())
        let names = (0..<1000).flatMap { _ in [one.next(), other.next()] }
        #expect(Set(names).count == 2000)
        #expect(names.allSatisfy { (9...Self.inPlace).contains($0.rawValue.utf8.count) })
    }

    @Test func aNameCanBePartOfALine() throws {
        var names = SessionNames()
        let line = Line(
            user: UserKey(app: try AppID("app"), account: try Account("anna")), session: names.next(),
            secret: String(repeating: "0", count: 2 * Line.secretBytes))
        #expect(try Line(wire: line.wire) == line)
    }
}
