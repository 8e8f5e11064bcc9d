import ChannelStateLogic
import SignalingProtocol
import Testing

@Suite struct ChannelTimerTests {
    @Test func wordsAreReadBack() throws {
        let channel = ChannelKey(app: try AppID("a:{b}"), name: try ChannelName("room: 1.2 é%"))
        for timer in [
            ChannelTimer.expiry(channel), .attributes(channel), .counter(.members, channel), .counter(.total, channel),
        ] {
            #expect(ChannelTimer(words: timer.words) == timer)
        }
    }

    @Test func eachKindHasItsWords() throws {
        let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("a room"))
        #expect(ChannelTimer.expiry(channel).words == ["expiry", "a", "a room"])
        #expect(ChannelTimer.attributes(channel).words == ["attributes", "a", "a room"])
        #expect(ChannelTimer.counter(.members, channel).words == ["num", "a", "a room"])
    }

    @Test(arguments: ["", "expiry a", "expiry a b c", "other a b"])
    func otherWordsAreNoTimer(_ text: String) {
        #expect(ChannelTimer(words: text.split(separator: " ").map(String.init)) == nil)
    }
}
