import SignalingProtocol
import Testing

@testable import MediaLogic

extension ParticipantID: ExpressibleByStringLiteral {
    /// The id of that text.
    public init(stringLiteral text: String) { self.init(text) }
}

@Suite struct MediaRosterTests {
    private typealias Member = MediaRoster.Member

    private func roster(participants: Int = 500, videos: Int = 50, known: [Member] = []) -> MediaRoster {
        var bounds = MediaRoster.Bounds()
        bounds.participants = participants
        bounds.videoPublishers = videos
        return MediaRoster(bounds: bounds, clock: 1000, known: known)
    }

    @Test func theNumberNeverFalls() throws {
        var before = roster()
        for number in UInt32(1)...5 {
            _ = try before.join(Member(uid: number, pid: ParticipantID("p\(number)"), call: "x", flags: [], joined: 0))
        }
        // The clock of another master is behind, or ahead.
        #expect(MediaRoster(clock: 900, stored: before.n).n == 1006)
        #expect(MediaRoster(clock: 1005, stored: before.n).n == 1006)
        #expect(MediaRoster(clock: 2000, stored: before.n).n == 2000)
        #expect(MediaRoster(clock: 2000).n == 2000)
    }

    @Test func joinsAndLeavesAreCounted() throws {
        var roster = roster()
        #expect(
            try roster.join(Member(uid: 7, pid: "a", call: "x", flags: [], joined: 0))
                == MediaRoster.Joined(uid: 7, replaced: nil, events: [.joined(uid: 7, flags: [], n: 1001)]))
        _ = try roster.join(Member(uid: 8, pid: "b", call: "y", flags: [.audioMuted], joined: 5))
        #expect(roster.snapshot.map(\.uid) == [7, 8])
        #expect(roster.leave(pid: "a", reason: .quit) == .left(uid: 7, reason: .quit, n: 1003))
        #expect(roster.leave(pid: "a", reason: .quit) == nil)
        #expect(roster.n == 1003 && roster.count == 1)
        #expect(roster.member(pid: "b")?.uid == 8)
    }

    @Test func theSameCallGoesOnWithoutAnEvent() throws {
        var roster = roster()
        _ = try roster.join(Member(uid: 7, pid: "a", call: "x", flags: [], joined: 0))
        let again = try roster.join(Member(uid: 7, pid: "b", call: "x", flags: [], joined: 9))
        #expect(again == MediaRoster.Joined(uid: 7, replaced: "a", events: []))
        #expect(roster.snapshot.map(\.joined) == [0])
        #expect(roster.member(pid: "a") == nil)
        // What changed meanwhile is told.
        let muted = try roster.join(Member(uid: 7, pid: "c", call: "x", flags: [.audioMuted], joined: 10))
        #expect(muted.events == [.state(uid: 7, flags: [.audioMuted], n: 1002)])
        #expect(throws: MediaRefusal.refused) {
            _ = try roster.join(Member(uid: 9, pid: "c", call: "z", flags: [], joined: 0))
        }
    }

    @Test func anotherCallReplaces() throws {
        var roster = roster()
        _ = try roster.join(Member(uid: 7, pid: "a", call: "x", flags: [], joined: 0))
        let other = try roster.join(Member(uid: 7, pid: "b", call: "y", flags: [], joined: 9))
        #expect(other.replaced == "a")
        #expect(other.events == [.left(uid: 7, reason: .replaced, n: 1002), .joined(uid: 7, flags: [], n: 1003)])
        #expect(roster.leave(pid: "a", reason: .quit) == nil)
        #expect(roster.count == 1)
    }

    @Test func uidZeroAsksForAFreeOne() throws {
        var roster = roster(participants: 3)
        _ = try roster.join(Member(uid: 5, pid: "a", call: "x", flags: [], joined: 0))
        var numbers: [UInt32] = [0, 5, 6]
        let joined = try roster.join(Member(uid: 0, pid: "b", call: "y", flags: [], joined: 0)) {
            numbers.removeFirst()
        }
        #expect(joined.uid == 6)
        _ = try roster.join(Member(uid: 0, pid: "c", call: "y", flags: [], joined: 0))
        #expect(throws: MediaRefusal.channelFull) {
            _ = try roster.join(Member(uid: 0, pid: "d", call: "y", flags: [], joined: 0))
        }
        #expect(throws: MediaRefusal.channelFull) {
            _ = try roster.join(Member(uid: 77, pid: "d", call: "y", flags: [], joined: 0))
        }
        // Who is in already may come again.
        #expect(try roster.join(Member(uid: 5, pid: "d", call: "z", flags: [], joined: 0)).replaced == "a")
        #expect(MediaRefusal.channelFull.code == 17)
    }

    @Test func mutesAreToldWhenTheyChangeAnything() throws {
        var roster = roster()
        _ = try roster.join(Member(uid: 7, pid: "a", call: "x", flags: [], joined: 0))
        #expect(try roster.mute(pid: "a", audio: true) == .state(uid: 7, flags: [.audioMuted], n: 1002))
        #expect(try roster.mute(pid: "a", audio: true) == nil)
        #expect(
            try roster.mute(pid: "a", audio: false, video: true, enabled: true)
                == .state(uid: 7, flags: [.videoMuted, .videoEnabled], n: 1003))
        #expect(roster.snapshot[0].flags.rawValue == 6)
        #expect(throws: MediaRefusal.unknownParticipant) { _ = try roster.mute(pid: "b", audio: true) }
    }

    @Test func publishersOfVideoAreBounded() throws {
        var roster = roster(videos: 1)
        _ = try roster.join(Member(uid: 7, pid: "a", call: "x", flags: [.videoEnabled], joined: 0))
        #expect(throws: MediaRefusal.refused) {
            _ = try roster.join(Member(uid: 8, pid: "b", call: "y", flags: [.videoEnabled], joined: 0))
        }
        _ = try roster.join(Member(uid: 8, pid: "b", call: "y", flags: [], joined: 0))
        #expect(throws: MediaRefusal.refused) { _ = try roster.mute(pid: "b", enabled: true) }
        #expect(try roster.mute(pid: "b", audio: true) != nil)
        _ = try roster.mute(pid: "a", enabled: false)
        #expect(try roster.mute(pid: "b", enabled: true) != nil)
    }

    @Test func anotherNodesMembersComeBackOrAreDropped() throws {
        let known = (1...3).map {
            Member(
                uid: $0, pid: ParticipantID("old\($0)"), call: "x\($0)", flags: [.videoMuted], joined: Int64($0))
        }
        var roster = roster(known: known)
        #expect(roster.count == 3 && roster.present == 0)
        #expect(roster.snapshot.allSatisfy { $0.flags.contains(.absent) })
        // The same call: without an event. Another call: as a new participant.
        #expect(
            try roster.join(Member(uid: 1, pid: "new1", call: "x1", flags: [.videoMuted], joined: 100)).events.isEmpty)
        #expect(try roster.join(Member(uid: 2, pid: "new2", call: "y", flags: [], joined: 100)).replaced == nil)
        #expect(throws: MediaRefusal.unknownParticipant) { _ = try roster.mute(pid: "old3", audio: true) }
        #expect(roster.expire(now: 14_999) == [])
        #expect(roster.expire(now: 15_000) == [.left(uid: 3, reason: .dropped, n: 1003)])
        #expect(roster.expire(now: 99_000) == [])
        #expect(roster.present == 2 && roster.snapshot.map(\.joined) == [1, 100])
    }
}
