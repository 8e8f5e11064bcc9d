import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct ReassertionTests {
    private let room: ChannelKey
    private var reassertion = Reassertion()

    init() throws { room = ChannelKey(app: try AppID("demo"), name: try ChannelName("room")) }

    private func ids(_ numbers: Range<Int>) -> [SessionID] { numbers.map { SessionID("gw-\($0)") } }

    @Test mutating func sessionsComeInPagesAndFewAtATime() {
        reassertion.want(ids(0..<Reassertion.page * (Reassertion.bound + 1)))
        for page in 0..<Reassertion.bound {
            let wanted = ids(page * Reassertion.page..<(page + 1) * Reassertion.page)
            #expect(reassertion.next() == .sessions(wanted))
        }
        #expect(reassertion.next() == nil)
        reassertion.answered(members: [])
        #expect(reassertion.next() != nil && reassertion.next() == nil)
    }

    @Test mutating func membersWaitUntilAllSessionsAreAnswered() {
        reassertion.want(ids(0..<Reassertion.page + 1))
        let (first, second) = (reassertion.next(), reassertion.next())
        #expect(first != nil && second == .sessions(ids(Reassertion.page..<Reassertion.page + 1)))
        reassertion.answered(members: [(SessionID("gw-0"), room)])
        #expect(reassertion.next() == nil, "a page of sessions is under way")
        reassertion.answered(members: [])
        #expect(reassertion.next() == .members(room, [SessionID("gw-0")]))
        reassertion.answered(unknown: [])
        #expect(reassertion.isDone)
    }

    @Test mutating func whatFailedIsToldAgainFromItsSessionOn() {
        reassertion.want(ids(0..<1))
        guard let asked = reassertion.next() else { return }
        reassertion.failed(asked)
        #expect(reassertion.next() == nil && !reassertion.isDone)
        reassertion.retry()
        #expect(reassertion.next() == asked)
        reassertion.answered(members: [(SessionID("gw-0"), room)])
        guard let members = reassertion.next() else { return }
        reassertion.failed(members)
        reassertion.retry()
        #expect(reassertion.next() == asked)
        reassertion.answered(members: [])
        #expect(reassertion.isDone)
    }

    @Test mutating func aMemberWhoseSessionIsNotThereYetIsToldAgain() {
        reassertion.want(ids(0..<1))
        _ = reassertion.next()
        reassertion.answered(members: [(SessionID("gw-0"), room)])
        _ = reassertion.next()
        reassertion.answered(unknown: ids(0..<1))
        #expect(!reassertion.isDone && reassertion.next() == nil)
        reassertion.retry()
        #expect(reassertion.next() == .sessions(ids(0..<1)))
    }

    @Test mutating func whatIsWantedTwiceIsToldOnce() {
        reassertion.want(ids(0..<2))
        reassertion.want(ids(1..<3))
        #expect(reassertion.next() == .sessions(ids(0..<3)))
    }

    /// As when a session was reasserted again before its channel had its turn.
    @Test mutating func aMemberThatIsFoundTwiceIsToldOnce() {
        reassertion.want(ids(0..<1))
        _ = reassertion.next()
        reassertion.want(ids(0..<1))
        _ = reassertion.next()
        for _ in 0..<2 { reassertion.answered(members: [(SessionID("gw-0"), room)]) }
        #expect(reassertion.next() == .members(room, ids(0..<1)))
        #expect(reassertion.next() == nil)
    }

    @Test mutating func membersOfAChannelComeInPages() {
        let all = ids(0..<Reassertion.page + 1)
        reassertion.want(all)
        for _ in 0..<2 { _ = reassertion.next() }
        reassertion.answered(members: all.map { ($0, room) })
        reassertion.answered(members: [])
        #expect(reassertion.next() == .members(room, Array(all.dropLast())))
        #expect(reassertion.next() == .members(room, [all[Reassertion.page]]))
        #expect(reassertion.next() == nil)
    }
}
