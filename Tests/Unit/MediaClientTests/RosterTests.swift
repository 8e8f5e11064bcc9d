import SignalingProtocol
import SignalingWire
import Testing

@testable import MediaClient

@Suite struct RosterTests {
    private func roster(_ others: (uid: UInt32, flags: MediaFlags)..., n: Int64 = 10) -> Roster {
        let members = others.map { RosterMember(uid: $0.uid, flags: $0.flags) } + [RosterMember(uid: 1, flags: [])]
        return Roster(RosterCopy(n: n, members: members), own: 1)
    }

    @Test func tellsOfThoseWhoAreThereOldestFirstAndNotOfItself() {
        let roster = roster((5, .audioMuted), (3, [.videoEnabled, .videoMuted]))
        #expect(
            roster.arrivals == [
                .userJoined(MediaUser(uid: 5, isAudioMuted: true)),
                .userJoined(MediaUser(uid: 3, isVideoMuted: true, hasVideo: true)),
            ])
        #expect(roster.count == 3)
    }

    @Test func changesInOrderAreTold() {
        var roster = roster((5, []))
        #expect(roster.changed(RosterMember(uid: 6, flags: []), n: 11) == .events([.userJoined(MediaUser(uid: 6))]))
        #expect(roster.changed(RosterMember(uid: 5, flags: .audioMuted), n: 12) == .events([.audioMuted(uid: 5, true)]))
        #expect(roster.left(uid: 5, .dropped, n: 13) == .events([.userLeft(uid: 5, .dropped)]))
        #expect(roster.left(uid: 5, .quit, n: 14) == .events([]))
        #expect(roster.changed(RosterMember(uid: 1, flags: .audioMuted), n: 15) == .events([]))
        #expect(roster.others.map(\.uid) == [6])
        #expect(roster.n == 15)
    }

    @Test func whatIsKnownIsOldAndWhatIsMissingIsAGap() {
        var roster = roster((5, []))
        #expect(roster.changed(RosterMember(uid: 6, flags: []), n: 10) == .old)
        #expect(roster.changed(RosterMember(uid: 6, flags: []), n: 12) == .gap([]))
        #expect(roster.others.map(\.uid) == [5])
        // The roster to come does not say why.
        #expect(roster.left(uid: 5, .quit, n: 13) == .gap([.userLeft(uid: 5, .quit)]))
        #expect(roster.others.isEmpty)
        #expect(roster.n == 10)
    }

    @Test func theClientsOwnChangesHaveNumbersToo() {
        var roster = roster((5, []))
        #expect(roster.changedItself(n: 11) == .events([]))
        #expect(roster.changed(RosterMember(uid: 6, flags: []), n: 12) == .events([.userJoined(MediaUser(uid: 6))]))
        #expect(roster.changedItself(n: 12) == .old)
        // A change of another user has not come yet, or was lost.
        #expect(roster.changedItself(n: 14) == .gap([]))
        #expect(roster.n == 12 && roster.isBehind)
    }

    @Test func aNumberOfLaterChangesIsAGap() {
        var roster = roster((5, []))
        #expect(roster.stands(at: 10) == .old && roster.stands(at: 9) == .old && !roster.isBehind)
        #expect(roster.stands(at: 11) == .gap([]))
        #expect(roster.n == 10 && roster.isBehind)
    }

    /// Otherwise who has left while the roster was on its way would be back for good.
    @Test func aCopyThatIsOlderThanWhatWasToldIsBehind() {
        var roster = roster((5, []))
        #expect(roster.left(uid: 5, .quit, n: 12) == .gap([.userLeft(uid: 5, .quit)]))
        #expect(roster.isBehind)
        let members = [RosterMember(uid: 5, flags: [])]
        #expect(
            roster.replace(with: RosterCopy(n: 11, members: members), isOtherNode: false)
                == [.userJoined(MediaUser(uid: 5))])
        #expect(roster.isBehind)
        #expect(
            roster.replace(with: RosterCopy(n: 12, members: []), isOtherNode: false)
                == [.userLeft(uid: 5, .dropped)])
        #expect(!roster.isBehind)
    }

    @Test func aWholeRosterTellsOnlyOfDifferences() {
        var roster = roster((5, []), (6, []), (7, .audioMuted))
        let copy = RosterCopy(
            n: 20,
            members: [
                RosterMember(uid: 1, flags: []), RosterMember(uid: 6, flags: .audioMuted),
                RosterMember(uid: 7, flags: .audioMuted),
                RosterMember(uid: 8, flags: []),
            ])
        #expect(
            roster.replace(with: copy, isOtherNode: false) == [
                .userLeft(uid: 5, .dropped), .audioMuted(uid: 6, true), .userJoined(MediaUser(uid: 8)),
            ])
        #expect(roster.replace(with: copy, isOtherNode: false) == [])
    }

    @Test func aRosterThatChangesHaveOvertakenIsLeftOut() {
        var roster = roster((5, []))
        let copy = RosterCopy(n: 9, members: [])
        #expect(roster.replace(with: copy, isOtherNode: false) == [])
        #expect(roster.others.map(\.uid) == [5])
        // Another node counts from elsewhere.
        #expect(roster.replace(with: copy, isOtherNode: true) == [.userLeft(uid: 5, .dropped)])
        #expect(roster.n == 9)
    }

    @Test func usersAreBounded() {
        let members = (0..<UInt32(Roster.bound)).map { RosterMember(uid: $0 + 10, flags: []) }
        var roster = Roster(RosterCopy(n: 3, members: members), own: 1)
        #expect(roster.changed(RosterMember(uid: 9, flags: []), n: 4) == .events([]))
        #expect(roster.count == Roster.bound + 1)
        // Those who are known still change, and make room when they leave.
        #expect(
            roster.changed(RosterMember(uid: 10, flags: .audioMuted), n: 5) == .events([.audioMuted(uid: 10, true)]))
        #expect(roster.left(uid: 10, .quit, n: 6) == .events([.userLeft(uid: 10, .quit)]))
        #expect(
            roster.changed(RosterMember(uid: 9, flags: []), n: 7) == .events([.userJoined(MediaUser(uid: 9))]))
    }

    @Test func aRosterOfTooManyUsersIsNotRead() {
        func copy(_ count: Int) throws(MediaError) -> RosterCopy {
            let users = (0..<count).map { JSONValue.array([.number(String($0)), .number("0")]) }
            return try RosterCopy(.object([JSONMember("n", .number("1")), JSONMember("users", .array(users))]))
        }
        #expect(throws: Never.self) { try copy(Roster.bound) }
        #expect(throws: MediaError.badAnswer) { try copy(Roster.bound + 1) }
    }
}
