import Pacing
import SignalingProtocol
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct WritePausesTests {
    private static let longest = LocalTime.Span(.milliseconds(5))

    private func at(_ microseconds: Int64) -> LocalTime { LocalTime(nanoseconds: microseconds * 1000) }

    private func event(_ kind: ChannelEvent.Kind) throws -> ChannelEvent {
        ChannelEvent(sequence: 1, id: 1, account: try Account("a"), uid: 1, kind: kind)
    }

    private func waiting(_ kinds: ChannelEvent.Kind...) throws -> WritePauses.Waiting {
        var waiting = WritePauses.Waiting()
        waiting.add(try kinds.map(event))
        return waiting
    }

    /// The pauses after a write from 1,000 us on.
    private func pauses(after microseconds: Int64, longest: LocalTime.Span = longest) -> WritePauses {
        var pauses = WritePauses(longest: longest)
        pauses.wrote(from: at(1000), to: at(1000 + microseconds))
        return pauses
    }

    @Test func theFirstEventWaitsForNothing() throws {
        let pauses = WritePauses(longest: Self.longest)
        #expect(try pauses.end(for: waiting(.joined), now: 10) == nil)
        #expect(try pauses.end(for: waiting(.message("hello")), now: 10) == nil)
    }

    @Test func movesRestAfterAWriteAsLongAsItWasDear() throws {
        let pauses = pauses(after: 500)
        for move in [ChannelEvent.Kind.joined, .left] {
            #expect(try pauses.end(for: waiting(move), now: at(1500)) == at(3500))
            #expect(try pauses.end(for: waiting(move), now: at(3499)) == at(3500))
            #expect(try pauses.end(for: waiting(move), now: at(3500)) == nil)
        }
        #expect(try self.pauses(after: 900_000).end(for: waiting(.joined), now: at(901_000)) == at(1_151_000))
    }

    @Test(arguments: [ChannelEvent.Kind.message("hello"), .attributes(.clear)])
    func messagesRestForATimeThatIsNotNoticed(_ kind: ChannelEvent.Kind) throws {
        let waiting = try waiting(.joined, kind)
        #expect(waiting.hasMessages)
        #expect(pauses(after: 500).end(for: waiting, now: at(1500)) == at(5500))
        #expect(pauses(after: 500).end(for: waiting, now: at(5500)) == nil)
        #expect(pauses(after: 50_000).end(for: waiting, now: at(51_000)) == at(56_000), "5 ms at most")
        let none = pauses(after: 50_000, longest: LocalTime.Span(nanoseconds: 0))
        #expect(none.end(for: waiting, now: at(51_000)) == nil)
    }

    @Test func aCheapWriteIsNotWorthATimer() throws {
        #expect(try pauses(after: 124).end(for: waiting(.message("hello")), now: at(1124)) == nil)
        #expect(try pauses(after: 125).end(for: waiting(.message("hello")), now: at(1125)) == at(2125))
    }

    @Test func whatWaitsIsBounded() throws {
        var moves = WritePauses.Waiting()
        moves.add(Array(repeating: try event(.joined), count: WritePauses.bound - 1))
        #expect(pauses(after: 500).end(for: moves, now: at(1500)) != nil)
        moves.add([try event(.left)])
        #expect(pauses(after: 500).end(for: moves, now: at(1500)) == nil)
        #expect(!moves.hasMessages)

        let half = String(repeating: "v", count: WritePauses.byteBound / 2)
        let attribute = Attribute(name: try AttributeName("a"), value: String(half.dropLast()))
        var texts = try waiting(.message(half), .attributes(.update(attribute)))
        #expect(pauses(after: 500).end(for: texts, now: at(1500)) != nil)
        texts.add([try event(.message("m"))])
        #expect(pauses(after: 500).end(for: texts, now: at(1500)) == nil)
    }
}
