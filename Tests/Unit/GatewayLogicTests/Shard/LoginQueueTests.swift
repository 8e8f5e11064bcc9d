import Pacing
import Testing

@testable import GatewayLogic

@Suite struct LoginQueueTests {
    private static let soon = LocalTime(milliseconds: 8_000)
    private static let bound = LoginQueue<Int>.bound

    /// What is to be done, as text, with the tickets of those that are asked for.
    private static func steps(
        _ queue: inout LoginQueue<Int>, at milliseconds: Int64
    ) -> (told: [String], tickets: [LoginTicket]) {
        var (told, tickets): ([String], [LoginTicket]) = ([], [])
        while true {
            switch queue.next(now: LocalTime(milliseconds: milliseconds)) {
            case .ask(let login, let ticket):
                told.append("ask \(login)")
                tickets.append(ticket)
            case .refuse(let login): told.append("refuse \(login)")
            case .wait(let time): return (told + ["wait until \(time.milliseconds)"], tickets)
            case .none: return (told, tickets)
            }
        }
    }

    private static func asks(_ logins: Range<Int>) -> [String] { logins.map { "ask \($0)" } }

    /// A queue to which so many were added, of which as many as have a place have been asked for at 1000 ms.
    private static func full(waiting: Int) -> (LoginQueue<Int>, [LoginTicket]) {
        var queue = LoginQueue<Int>()
        for login in 0..<bound + waiting { queue.add(login, by: soon) }
        let steps = steps(&queue, at: 1_000)
        #expect(steps.told == asks(0..<bound) + (waiting > 0 ? ["wait until 1250"] : []))
        return (queue, steps.tickets)
    }

    @Test func oneThatIsAloneIsAskedForAtOnce() {
        var queue = LoginQueue<Int>()
        #expect(Self.steps(&queue, at: 0).told == [])
        queue.add(1, by: Self.soon)
        #expect(queue.count == 1)
        #expect(Self.steps(&queue, at: 0).told == ["ask 1"] && queue.count == 0)
    }

    @Test func theOthersWaitInTheirOrder() {
        var (queue, tickets) = Self.full(waiting: 3)
        #expect(queue.count == 3)
        // In whatever order presence answers.
        queue.answered(tickets[5])
        #expect(Self.steps(&queue, at: 1_001).told == ["ask \(Self.bound)", "wait until 1250"])
        queue.answered(tickets[0])
        queue.answered(tickets[63])
        #expect(Self.steps(&queue, at: 1_002).told == Self.asks(Self.bound + 1..<Self.bound + 3))
        #expect(queue.count == 0)
    }

    @Test func oneThatIsNotAnsweredGivesItsPlaceAway() {
        var (queue, tickets) = Self.full(waiting: 2)
        for ticket in tickets.dropFirst() { queue.answered(ticket) }
        for login in 100..<100 + Self.bound { queue.add(login, by: Self.soon) }
        // One has no answer yet: 63 places are free.
        let next = Self.steps(&queue, at: 1_100).told
        #expect(next == Self.asks(Self.bound..<Self.bound + 2) + Self.asks(100..<161) + ["wait until 1250"])
        #expect(Self.steps(&queue, at: 1_250).told == ["ask 161", "wait until 1350"])
        // An answer that comes later frees no other one's place.
        queue.answered(tickets[0])
        #expect(Self.steps(&queue, at: 1_260).told == ["wait until 1350"])
    }

    @Test func whoHasWaitedTooLongIsRefused() {
        var (queue, tickets) = Self.full(waiting: 1)
        queue.add(1_000, by: LocalTime(milliseconds: 9_000))
        #expect(Self.steps(&queue, at: 1_249).told == ["wait until 1250"])
        for ticket in tickets { queue.answered(ticket) }
        #expect(Self.steps(&queue, at: 8_000).told == ["refuse \(Self.bound)", "ask 1000"])
    }
}
