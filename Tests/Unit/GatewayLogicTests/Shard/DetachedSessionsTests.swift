import BusProtocol
import Pacing
import SignalingProtocol
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct DetachedSessionsTests {
    private static let second: Int64 = 1_000_000_000
    private let user: UserKey
    private var table = DetachedSessions()

    init() throws { user = UserKey(app: try AppID("demo"), account: try Account("alice")) }

    private func held(_ number: Int, uid: UInt32 = 7) -> HeldSession {
        let line = Line(user: user, session: SessionID("gw-\(number)"), secret: "secret")
        return HeldSession(line: line, uid: uid, device: "test", push: false)
    }

    private func at(_ seconds: Int64) -> LocalTime { LocalTime(nanoseconds: seconds * Self.second) }

    private mutating func known(now: LocalTime) -> [SessionID] { table.sessions(now: now) { _ in true } }

    @Test mutating func aSessionIsKnownUntilTheLongestTimeoutHasPassed() {
        #expect(table.keep(held(1), now: at(1)) == false)
        #expect(table.keep(held(2), now: at(2)) == false)
        #expect(known(now: at(121)) == [SessionID("gw-1"), SessionID("gw-2")])
        #expect(table.entry(of: SessionID("gw-1"), now: at(121))?.lostAt == at(1))
        #expect(table.entry(of: SessionID("gw-1"), now: at(122)) == nil)
        #expect(known(now: at(122)) == [SessionID("gw-2")])
        #expect(table.count == 1)
    }

    @Test mutating func aSessionThatWasResumedIsForgotten() {
        _ = table.keep(held(1), now: at(1))
        table.forget(SessionID("gw-1"))
        #expect(known(now: at(2)).isEmpty && table.count == 0)
        table.forget(SessionID("gw-2"))
    }

    @Test mutating func theLastLossOfASessionCounts() {
        _ = table.keep(held(1), now: at(1))
        table.forget(SessionID("gw-1"))
        _ = table.keep(held(2), now: at(2))
        _ = table.keep(held(1, uid: 9), now: at(3))
        #expect(known(now: at(4)) == [SessionID("gw-2"), SessionID("gw-1")])
        #expect(table.entry(of: SessionID("gw-1"), now: at(122))?.held.uid == 9)
        #expect(known(now: at(122)) == [SessionID("gw-2"), SessionID("gw-1")])
    }

    @Test mutating func onlyTheConcernedOnesAreTold() {
        for number in 1...3 { _ = table.keep(held(number), now: at(1)) }
        #expect(table.sessions(now: at(1)) { $0.line.session == SessionID("gw-2") } == [SessionID("gw-2")])
    }

    @Test mutating func theOldestIsForgottenPastTheBound() {
        for number in 0..<DetachedSessions.bound { #expect(table.keep(held(number), now: at(1)) == false) }
        table.forget(SessionID("gw-0"))
        #expect(table.keep(held(-1), now: at(2)) == false)
        #expect(table.keep(held(-2), now: at(2)) == true)
        #expect(table.count == DetachedSessions.bound)
        #expect(table.entry(of: SessionID("gw-1"), now: at(2)) == nil)
        #expect(table.entry(of: SessionID("gw-2"), now: at(2)) != nil)
        #expect(table.entry(of: SessionID("gw--2"), now: at(2)) != nil)
    }

    /// A client that loses its connection again and again within two minutes takes no more room than one entry.
    @Test mutating func sessionsThatComeAndGoDoNotFillTheTable() {
        _ = table.keep(held(0), now: at(1))
        let session = held(1)
        for _ in 0..<2 * DetachedSessions.bound + 10 {
            _ = table.keep(session, now: at(2))
            table.forget(SessionID("gw-1"))
        }
        #expect(known(now: at(2)) == [SessionID("gw-0")])
    }
}
