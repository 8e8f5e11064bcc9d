import BusProtocol
import Pacing
import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct TracedUsersTests {
    private static func at(_ seconds: Int64) -> LocalTime { LocalTime(nanoseconds: seconds * 1_000_000_000) }

    private static func user(_ account: String) throws -> UserKey {
        UserKey(app: try AppID("app"), account: try Account(account))
    }

    private static func order(_ id: String, _ account: String = "anna") throws -> TraceOrder {
        TraceOrder(id: id, seconds: 15, user: try user(account))
    }

    @Test func onlyWhoIsFollowedIsTold() throws {
        var traced = TracedUsers()
        #expect(traced.isEmpty)
        #expect(traced.follow(try Self.order("one"), now: Self.at(100)))
        #expect(traced.follow(try Self.order("two"), now: Self.at(100)))
        let anna = try Self.user("anna")
        #expect(try traced.follows(anna) && !traced.follows(Self.user("ben")) && !traced.isEmpty)
        #expect(traced.tellings(of: anna, now: Self.at(101)).map(\.id) == ["one", "two"])
        #expect(try traced.tellings(of: Self.user("ben"), now: Self.at(101)).isEmpty)
        // The account of another app is another user.
        let other = UserKey(app: try AppID("other"), account: anna.account)
        #expect(!traced.follows(other))
    }

    @Test func aTraceEndsUnlessItIsOrderedAgain() throws {
        var traced = TracedUsers()
        let anna = try Self.user("anna")
        for id in ["one", "two"] { #expect(traced.follow(try Self.order(id), now: Self.at(100))) }
        #expect(traced.follow(try Self.order("two"), now: Self.at(110)))
        #expect(traced.tellings(of: anna, now: Self.at(114)).count == 2)
        #expect(traced.tellings(of: anna, now: Self.at(115)).map(\.id) == ["two"])
        #expect(traced.tellings(of: anna, now: Self.at(125)).isEmpty && traced.isEmpty)
    }

    @Test func furtherTracesThanTheBoundAreIgnored() throws {
        var traced = TracedUsers()
        for number in 0..<TracedUsers.bound {
            #expect(traced.follow(try Self.order("id", "user\(number)"), now: Self.at(100)))
        }
        #expect(!traced.follow(try Self.order("id", "late"), now: Self.at(101)))
        #expect(traced.follow(try Self.order("id", "user0"), now: Self.at(101)), "one that runs already goes on")
        #expect(traced.follow(try Self.order("id", "late"), now: Self.at(115)), "the others have ended")
    }

    @Test func moreEntriesThanTheBoundAreCounted() throws {
        var traced = TracedUsers()
        let anna = try Self.user("anna")
        #expect(traced.follow(try Self.order("one"), now: Self.at(100)))
        var told = 0
        for _ in 0..<700 { told += traced.tellings(of: anna, now: Self.at(101)).count }
        #expect(told == TracedUsers.entriesAtOnce)
        #expect(traced.tellings(of: anna, now: Self.at(102)).map(\.leftOut) == [200])
        #expect(traced.tellings(of: anna, now: Self.at(102)).map(\.leftOut) == [0])
    }
}
