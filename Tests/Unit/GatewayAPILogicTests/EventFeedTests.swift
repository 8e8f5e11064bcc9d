import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayAPILogic

@Suite struct EventFeedTests {
    private static func page(_ ids: [Int64], _ bodies: [String], complete: Bool = true) throws -> ChannelLogPage {
        let account = try Account("a")
        let events = zip(ids, bodies).map {
            ChannelEvent(sequence: $0.0 % 100, id: $0.0, account: account, uid: 1, kind: .message($0.1))
        }
        let last = ChannelPosition(sequence: (ids.last ?? 0) % 100, id: ids.last ?? 0)
        return ChannelLogPage(events: events, latest: last, complete: complete, through: last, more: false)
    }

    private static let nothing = ChannelLogPage(
        events: [], latest: ChannelPosition(sequence: 0, id: 0), complete: true,
        through: ChannelPosition(sequence: 0, id: 0), more: false)

    private static func feed(
        _ kinds: Set<EventKind>, at position: String, since: AnnouncedSince = [:]
    ) throws -> EventFeed {
        let place = try #require(EventPosition(position))
        return EventFeed(kinds: kinds, after: place, latest: [:], since: since)
    }

    @Test func positionsComeBack() {
        let position = EventPosition(places: [
            .users: ChannelPosition(sequence: 1, id: 1_795_412_345_678_901),
            .members: ChannelPosition(sequence: 0, id: 0),
        ])
        #expect(position.text == "1795412345678901-1-0-0")
        #expect(EventPosition(position.text) == position)
        for text in ["", "1-2-3", "1-2-3-4-5", "1-2-3-", "1-2-3--4", "1-2-3-+4", "1-2-3-9007199254740992", "1-2-3-x"] {
            #expect(EventPosition(text) == nil, "\(text)")
        }
        #expect(EventPosition("1-2-3-9007199254740991") != nil)
    }

    @Test func positionsInAllLogsComeBack() {
        let position = EventPosition(places: [
            .users: ChannelPosition(sequence: 1, id: 11), .members: ChannelPosition(sequence: 2, id: 12),
            .calls: ChannelPosition(sequence: 0, id: 13),
        ])
        #expect(position.text == "11-1-12-2-0-0-13-0-0-0")
        #expect(EventPosition(position.text) == position)
        #expect(EventPosition(places: [.channels: ChannelPosition(sequence: 4, id: 5)]).text == "0-0-0-0-5-4-0-0-0-0")
        for text in [
            "1-2-3-4-5-6", "1-2-3-4-5-6-7-8-9", "1-2-3-4-5-6-7-8-9-10-11", "1-2-3-4-5-6-7-8-9--1",
            "1-2-3-4-5-6-7-8-9-9007199254740992",
        ] {
            #expect(EventPosition(text) == nil, "\(text)")
        }
        // Only in the longer form does 0 mean that nothing is known.
        #expect(EventPosition("0-0-0-0")?[log: .users] == ChannelPosition(sequence: 0, id: 0))
        #expect(EventPosition("0-0-0-0-0-0-1-0-0-0")?[log: .users] == nil)
    }

    @Test func eventsOfBothChannelsAreToldInTheirOrder() throws {
        var feed = try Self.feed([.online, .leave], at: "0-0-0-1")
        let users = try Self.page([101, 104], [#"{"event":"online","account":"a"}"#, #"{"event":"offline"}"#])
        let members = try Self.page([102, 103, 105], [#"{"event":"leave"}"#, "no JSON", #"{"event":"join"}"#])
        #expect(
            feed.lines([.users: users, .members: members]) == """
                id: 101-1-0-1
                event: online
                data: {"event":"online","account":"a"}

                id: 101-1-102-2
                event: leave
                data: {"event":"leave"}


                """)
        #expect(feed.position.text == "104-4-105-5")
        #expect(feed.heartbeat == ": \nid: 104-4-105-5\n\n")
    }

    @Test func eventsOfAllLogsAreToldInTheirOrder() throws {
        var feed = try Self.feed([.join, .channelCreated, .call, .message], at: "100-0-100-1-100-2-100-0-100-4")
        #expect(feed.logs == EventLog.allCases && feed.opening == "")
        let text = feed.lines([
            .users: Self.nothing, .members: try Self.page([102], [#"{"event":"join"}"#]),
            .channels: try Self.page(
                [103, 104], [#"{"event":"channel_created"}"#, #"{"event":"channel_destroyed"}"#]),
            .calls: try Self.page([101], [#"{"event":"call","state":"invited"}"#]),
            .messages: try Self.page([105], [#"{"event":"message","size":3}"#]),
        ])
        #expect(
            text == """
                id: 100-0-100-1-100-2-101-1-100-4
                event: call
                data: {"event":"call","state":"invited"}

                id: 100-0-102-2-100-2-101-1-100-4
                event: join
                data: {"event":"join"}

                id: 100-0-102-2-103-3-101-1-100-4
                event: channel_created
                data: {"event":"channel_created"}

                id: 100-0-102-2-104-4-101-1-105-5
                event: message
                data: {"event":"message","size":3}


                """)
        #expect(feed.position.text == "100-0-102-2-104-4-101-1-105-5")
    }

    @Test func onlyTheLogsOfItsKindsAreRead() throws {
        let latest: [EventLog: ChannelPosition] = [.calls: ChannelPosition(sequence: 3, id: 30)]
        let feed = EventFeed(kinds: [.call], after: nil, latest: latest, since: [.calls: 20])
        #expect(feed.logs == [.calls] && feed.position.text == "0-0-0-0-0-0-30-3-0-0" && feed.opening == "")
        // Whose kinds are those of the special channels has the position that it always had.
        let old = try Self.feed([.join], at: "1-1-2-2-3-3-4-4-5-5")
        #expect(old.position.text == "1-1-2-2" && old.opening == "")
    }

    @Test func aPositionThatKnowsNothingOfALogIsAGap() throws {
        let after = try #require(EventPosition("1-1-2-2"))
        let latest: [EventLog: ChannelPosition] = [.calls: ChannelPosition(sequence: 3, id: 30)]
        let feed = EventFeed(
            kinds: [.join, .call], after: after, latest: latest, since: [.users: 1, .members: 1, .calls: 40])
        #expect(feed.opening == "event: gap\nid: 1-1-2-2-0-0-40-3-0-0\ndata: {}\n\n")
        let again = EventFeed(kinds: [.join, .call], after: feed.position, latest: [:], since: [.calls: 40])
        #expect(again.opening == "" && again.position == feed.position)
    }

    @Test func whatMayBeMissingIsTold() throws {
        var feed = try Self.feed([.join], at: "1-1-2-2")
        let text = feed.lines([
            .users: try Self.page([], []), .members: try Self.page([9], [#"{"event":"join"}"#], complete: false),
        ])
        #expect(text.hasPrefix("event: gap\nid: 1-1-2-2\ndata: {}\n\nid: 1-1-9-9\nevent: join\n"))
    }

    @Test func aLogThatHasExpiredIsAGapOnce() throws {
        var feed = try Self.feed([.join], at: "1-1-2-2")
        let latest = ChannelPosition(sequence: 40, id: 40)
        let empty = ChannelLogPage(
            events: [], latest: latest, complete: false, through: ChannelPosition(sequence: 2, id: 2), more: false)
        let text = feed.lines([.users: try Self.page([], []), .members: empty])
        #expect(text == "event: gap\nid: 1-1-2-2\ndata: {}\n\n")
        #expect(feed.place(in: .members) == latest)
    }

    @Test func aBreakOfTheAnnouncementsIsAGap() throws {
        var feed = try Self.feed([.join], at: "70-7-0-0", since: [.users: 70, .members: 0])
        #expect(feed.opening == "")
        let later: AnnouncedSince = [.users: 70, .members: 90]
        #expect(feed.announced(since: later) == "event: gap\nid: 70-7-0-0\ndata: {}\n\n")
        #expect(feed.announced(since: later) == "")
        // There is no channel of joins yet.
        let none = ChannelPosition(sequence: 0, id: 0)
        let nothing = ChannelLogPage(events: [], latest: none, complete: false, through: none, more: false)
        let users = try Self.page([71], [#"{"event":"online"}"#])
        #expect(feed.lines([.users: users, .members: nothing]) == "")
        // Who resumes there knows that nothing is missing.
        #expect(feed.position.text == "71-71-90-0")
        #expect(try Self.feed([.join], at: feed.position.text, since: later).opening == "")
        #expect(try Self.feed([.join], at: "70-7-0-0", since: later).opening != "")
        let fresh = EventFeed(kinds: [.join], after: nil, latest: [:], since: [.users: 5, .members: 6])
        #expect(fresh.position.text == "5-0-6-0" && fresh.opening == "")
    }

    @Test func aLogThatHasBegunAnewLooksWhole() throws {
        let event = #"{"event":"join"}"#
        let halfAnHour: Int64 = 1_800_000_000
        func isGap(_ position: String, id: Int64, sequence: Int64) throws -> Bool {
            var feed = try Self.feed([.join], at: position)
            var page = try Self.page([id], [event])
            page.events[0].sequence = sequence
            return feed.lines([.users: try Self.page([], []), .members: page]).contains("event: gap")
        }
        #expect(try isGap("0-0-1000-10", id: 1001 + halfAnHour, sequence: 12))
        #expect(try !isGap("0-0-1000-10", id: 1001 + halfAnHour, sequence: 11))
        #expect(try !isGap("0-0-1000-10", id: 1000 + halfAnHour, sequence: 12))
        // The first event of a new channel, and a later one.
        #expect(try !isGap("0-0-0-0", id: 1_795_412_345_678_901, sequence: 1_795_412_345_679))
        #expect(try isGap("0-0-0-0", id: 1_795_412_345_678_901, sequence: 1_795_412_345_678))
    }

    @Test func requests() throws {
        func act(_ query: String, _ id: String? = nil) throws(APIProblem) -> APIAct {
            var request = try APIRequest(method: "GET", target: "/v1/apps/a/events\(query)")
            request.lastEventID = id
            return try request.act(body: nil)
        }
        let app = try AppID("a")
        let (one, two) = (EventPosition("1-1-1-1"), EventPosition("2-2-2-2"))
        #expect(try act("") == .follow(app, kinds: EventKind.standard, after: nil))
        #expect(try act("?kinds=join,online&after=1-1-1-1") == .follow(app, kinds: [.join, .online], after: one))
        #expect(try act("?after=1-1-1-1", "2-2-2-2") == .follow(app, kinds: EventKind.standard, after: two))
        let long = EventPosition("1-1-2-2-3-3-4-4-5-5")
        #expect(
            try act("?kinds=channel_created,channel_destroyed,call&after=1-1-2-2-3-3-4-4-5-5")
                == .follow(app, kinds: [.channelCreated, .channelDestroyed, .call], after: long))
        for (query, id, field) in [
            ("?kinds=", nil, "kinds"), ("?kinds=join,x", nil, "kinds"), ("?after=x", nil, "after"),
            ("?after=1-1-2-2-3-3", nil, "after"),
            ("", "x", "Last-Event-ID"), ("?limit=1", nil, "limit"),
        ] as [(String, String?, String)] {
            do {
                _ = try act(query, id)
                Issue.record("\(query) is accepted")
            } catch {
                #expect(error.field == field && error.bound != nil)
            }
        }
    }
}
