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

    @Test func positionsComeBack() {
        let position = EventPosition(
            users: ChannelPosition(sequence: 1, id: 1_795_412_345_678_901),
            channels: ChannelPosition(sequence: 0, id: 0))
        #expect(position.text == "1795412345678901-1-0-0")
        #expect(EventPosition(position.text) == position)
        for text in ["", "1-2-3", "1-2-3-4-5", "1-2-3-", "1-2-3--4", "1-2-3-+4", "1-2-3-9007199254740992", "1-2-3-x"] {
            #expect(EventPosition(text) == nil, "\(text)")
        }
        #expect(EventPosition("1-2-3-9007199254740991") != nil)
    }

    @Test func eventsOfBothChannelsAreToldInTheirOrder() throws {
        let start = try #require(EventPosition("0-0-0-1"))
        var feed = EventFeed(kinds: [.online, .leave], position: start)
        let users = try Self.page([101, 104], [#"{"event":"online","account":"a"}"#, #"{"event":"offline"}"#])
        let channels = try Self.page([102, 103, 105], [#"{"event":"leave"}"#, "no JSON", #"{"event":"join"}"#])
        #expect(
            feed.lines(users: users, channels: channels) == """
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

    @Test func whatMayBeMissingIsTold() throws {
        let start = try #require(EventPosition("1-1-2-2"))
        var feed = EventFeed(kinds: [.join], position: start)
        let text = feed.lines(
            users: try Self.page([], []), channels: try Self.page([9], [#"{"event":"join"}"#], complete: false))
        #expect(text.hasPrefix("event: gap\nid: 1-1-2-2\ndata: {}\n\nid: 1-1-9-9\nevent: join\n"))
    }

    @Test func aLogThatHasExpiredIsAGapOnce() throws {
        var feed = EventFeed(kinds: [.join], position: try #require(EventPosition("1-1-2-2")))
        let latest = ChannelPosition(sequence: 40, id: 40)
        let empty = ChannelLogPage(
            events: [], latest: latest, complete: false, through: ChannelPosition(sequence: 2, id: 2), more: false)
        let text = feed.lines(users: try Self.page([], []), channels: empty)
        #expect(text == "event: gap\nid: 1-1-2-2\ndata: {}\n\n")
        #expect(feed.position.channels == latest)
    }

    @Test func aBreakOfTheAnnouncementsIsAGap() throws {
        var feed = EventFeed(kinds: [.join], position: try #require(EventPosition("70-7-0-0")))
        #expect(feed.announced(since: AnnouncedSince(users: 70, channels: 0)) == "")
        let later = AnnouncedSince(users: 70, channels: 90)
        #expect(feed.announced(since: later) == "event: gap\nid: 70-7-0-0\ndata: {}\n\n")
        #expect(feed.announced(since: later) == "")
        // There is no channel of joins yet.
        let none = ChannelPosition(sequence: 0, id: 0)
        let nothing = ChannelLogPage(events: [], latest: none, complete: false, through: none, more: false)
        let users = try Self.page([71], [#"{"event":"online"}"#])
        #expect(feed.lines(users: users, channels: nothing) == "")
        // Who resumes there knows that nothing is missing.
        #expect(feed.position.text == "71-71-90-0")
        var again = EventFeed(kinds: [.join], position: feed.position)
        #expect(again.announced(since: later) == "")
        let fresh = EventFeed(
            kinds: [.join], latest: EventPosition.start, since: AnnouncedSince(users: 5, channels: 6))
        #expect(fresh.position.text == "5-0-6-0")
    }

    @Test func aLogThatHasBegunAnewLooksWhole() throws {
        let event = #"{"event":"join"}"#
        let halfAnHour: Int64 = 1_800_000_000
        func isGap(_ position: String, id: Int64, sequence: Int64) throws -> Bool {
            var feed = EventFeed(kinds: [.join], position: try #require(EventPosition(position)))
            var page = try Self.page([id], [event])
            page.events[0].sequence = sequence
            return feed.lines(users: try Self.page([], []), channels: page).contains("event: gap")
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
        #expect(try act("") == .follow(app, kinds: Set(EventKind.allCases), after: nil))
        #expect(try act("?kinds=join,online&after=1-1-1-1") == .follow(app, kinds: [.join, .online], after: one))
        #expect(try act("?after=1-1-1-1", "2-2-2-2") == .follow(app, kinds: Set(EventKind.allCases), after: two))
        for (query, id, field) in [
            ("?kinds=", nil, "kinds"), ("?kinds=join,x", nil, "kinds"), ("?after=x", nil, "after"),
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
