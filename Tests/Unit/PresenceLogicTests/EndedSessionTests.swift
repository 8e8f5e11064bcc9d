import PresenceLogic
import SignalingProtocol
import Testing

@Suite struct EndedSessionTests {
    private func record(replaced: Bool, channel: String = "", leaving: String = "") -> [String] {
        ["s1", "g1", "7", "601", replaced ? "1" : "0", "1000001", "1000", channel, leaving, "websdk", "900"]
    }

    @Test func aReplacedSessionLeavesQuietly() throws {
        let ended = try #require(EndedSession(fields: record(replaced: true, channel: "room")))
        #expect(ended.consequences == [.leave(try ChannelName("room"), .leaveKicked), .endCalls])
        #expect(ended.time == RedisTime(milliseconds: 1000) && ended.since == RedisTime(milliseconds: 900))
        #expect(ended.change == 1_000_001 && ended.uid == 7)
        #expect(ended.session == SessionID("s1") && ended.gateway == GatewayID("g1") && ended.device == "websdk")
    }

    @Test func theLastSessionTakesTheUserOffline() throws {
        let ended = try #require(EndedSession(fields: record(replaced: false)))
        #expect(ended.consequences == [.endCalls, .offline(.leaveKicked)])
    }

    @Test func channelsThatWereNotYetLeftAreLeftToo() throws {
        let ended = try #require(EndedSession(fields: record(replaced: false, channel: "b c", leaving: "a\nb c\nd")))
        #expect(ended.channels == [try ChannelName("b c"), try ChannelName("a"), try ChannelName("d")])
    }

    @Test func otherShapesAreRefused() {
        #expect(EndedSession(fields: []) == nil)
        #expect(EndedSession(fields: Array(record(replaced: true).dropLast())) == nil)
        #expect(EndedSession(fields: record(replaced: true) + ["more"]) == nil)
        var wrong = record(replaced: true)
        wrong[3] = "999"
        #expect(EndedSession(fields: wrong) == nil)
    }
}
