import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct ReassertionTests {
    private let room: ChannelKey
    private var reassertion = Reassertion()

    init() throws { room = ChannelKey(app: try AppID("demo"), name: try ChannelName("room")) }

    private func ids(_ numbers: Range<Int>) -> [SessionID] { numbers.map { SessionID("gw-\($0)") } }

    /// Wants sessions of one partition.
    private mutating func want(_ numbers: Range<Int>, of partition: Int = 0) {
        reassertion.want(ids(numbers)) { _ in partition }
    }

    private mutating func next() -> Reassertion.Request? { reassertion.next { _ in true } }

    /// The next request while the master of a partition is away.
    private mutating func without(_ partition: Int) -> Reassertion.Request? { reassertion.next { $0 != partition } }

    private mutating func answered(_ partition: Int = 0) { reassertion.answered(partition, members: []) }

    @Test mutating func sessionsComeInPagesAndFewAtATime() {
        want(0..<Reassertion.page * (Reassertion.bound + 1))
        for page in 0..<Reassertion.bound {
            let wanted = ids(page * Reassertion.page..<(page + 1) * Reassertion.page)
            #expect(next() == .sessions(wanted, partition: 0))
        }
        #expect(next() == nil)
        answered()
        #expect(next() != nil && next() == nil)
    }

    @Test mutating func membersWaitUntilAllSessionsAreAnswered() {
        want(0..<Reassertion.page + 1)
        let (first, second) = (next(), next())
        #expect(
            first != nil && second == .sessions(ids(Reassertion.page..<Reassertion.page + 1), partition: 0))
        reassertion.answered(0, members: [(SessionID("gw-0"), room)])
        #expect(next() == nil, "a page of sessions is under way")
        #expect(!reassertion.isAnswered(0))
        answered()
        #expect(reassertion.isAnswered(0))
        #expect(next() == .members(room, [SessionID("gw-0")]))
        reassertion.answered(unknown: [])
        #expect(next() == nil)
    }

    @Test mutating func whatFailedIsToldAgainFromItsSessionOn() {
        want(0..<1)
        guard let asked = next() else { return }
        reassertion.failed(asked)
        #expect(next() == nil && !reassertion.isAnswered(0))
        reassertion.retry { _ in 0 }
        #expect(next() == asked)
        reassertion.answered(0, members: [(SessionID("gw-0"), room)])
        guard let members = next() else { return }
        reassertion.failed(members)
        #expect(reassertion.isAnswered(0), "presence has answered")
        reassertion.retry { _ in 0 }
        #expect(next() == asked)
        answered()
        #expect(next() == nil && reassertion.isAnswered(0))
    }

    @Test mutating func aMemberWhoseSessionIsNotThereYetIsToldAgain() {
        want(0..<1)
        _ = next()
        reassertion.answered(0, members: [(SessionID("gw-0"), room)])
        _ = next()
        reassertion.answered(unknown: ids(0..<1))
        #expect(next() == nil)
        reassertion.retry { _ in 0 }
        #expect(next() == .sessions(ids(0..<1), partition: 0))
    }

    @Test mutating func aMemberWhoseSessionHasEndedIsNotToldAgain() {
        reassertion.want(ids(0..<1)) { _ in nil }
        #expect(next() == nil)
        want(0..<1)
        _ = next()
        reassertion.answered(0, members: [(SessionID("gw-0"), room)])
        _ = next()
        reassertion.answered(unknown: ids(0..<1))
        reassertion.retry { _ in nil }
        #expect(next() == nil)
    }

    @Test mutating func whatIsWantedTwiceIsToldOnce() {
        want(0..<2)
        want(1..<3)
        #expect(next() == .sessions(ids(0..<3), partition: 0))
    }

    /// As when a session was reasserted again before its channel had its turn.
    @Test mutating func aMemberThatIsFoundTwiceIsToldOnce() {
        want(0..<1)
        _ = next()
        want(0..<1)
        _ = next()
        for _ in 0..<2 { reassertion.answered(0, members: [(SessionID("gw-0"), room)]) }
        #expect(next() == .members(room, ids(0..<1)))
        #expect(next() == nil)
    }

    @Test mutating func membersOfAChannelComeInPages() {
        let all = ids(0..<Reassertion.page + 1)
        want(0..<Reassertion.page + 1)
        for _ in 0..<2 { _ = next() }
        reassertion.answered(0, members: all.map { ($0, room) })
        answered()
        #expect(next() == .members(room, Array(all.dropLast())))
        #expect(next() == .members(room, [all[Reassertion.page]]))
        #expect(next() == nil)
    }

    @Test mutating func aPageIsOfOnePartition() {
        reassertion.want(ids(0..<6)) { Int($0.rawValue.dropFirst(3)).map { $0 % 3 } }
        #expect(next() == .sessions([SessionID("gw-0"), SessionID("gw-3")], partition: 0))
        #expect(next() == .sessions([SessionID("gw-1"), SessionID("gw-4")], partition: 1))
        answered()
        #expect(reassertion.isAnswered(0) && !reassertion.isAnswered(1) && !reassertion.isAnswered(2))
        #expect(next() == .sessions([SessionID("gw-2"), SessionID("gw-5")], partition: 2))
    }

    @Test mutating func partitionsTakeTurns() {
        want(0..<2 * Reassertion.page, of: 0)
        want(2 * Reassertion.page..<2 * Reassertion.page + 1, of: 1)
        let partitions = (0..<3).map { _ in
            if case .sessions(_, let partition) = next() { partition } else { -1 }
        }
        #expect(partitions == [0, 1, 0])
    }

    /// Requests about a master that is away would only take the places of others.
    @Test mutating func sessionsOfAMasterThatIsAwayWait() {
        want(0..<1, of: 0)
        want(1..<2, of: 1)
        #expect(without(0) == .sessions(ids(1..<2), partition: 1))
        #expect(without(0) == nil)
        reassertion.answered(1, members: [(SessionID("gw-1"), room)])
        #expect(reassertion.isAnswered(1) && !reassertion.isAnswered(0))
        #expect(without(0) == .members(room, ids(1..<2)), "its session is known")
        #expect(next() == .sessions(ids(0..<1), partition: 0))
    }

    @Test mutating func aFailureIsOfOnePartition() {
        want(0..<1, of: 0)
        want(1..<2, of: 1)
        guard let first = next() else { return }
        _ = next()
        reassertion.failed(first)
        answered(1)
        #expect(!reassertion.isAnswered(0) && reassertion.isAnswered(1))
        reassertion.retry { _ in nil }
        #expect(next() == first)
    }
}
