import ChannelStateLogic
import SignalingProtocol
import Testing

@Suite struct ChannelTimerTests {
    @Test func membersAreReadBack() throws {
        let channel = ChannelKey(app: try AppID("a:{b}"), name: try ChannelName("room: 1.2 é%"))
        for timer in [
            ChannelTimer.expiry(channel), .attributes(channel), .counter(.members, channel), .counter(.total, channel),
        ] {
            #expect(ChannelTimer(member: timer.member) == timer)
        }
    }

    @Test(arguments: ["", "expiry:a", "expiry:a:b:c", "other:a:b", "expiry:%zz:b"])
    func otherTextIsNoTimer(_ text: String) {
        #expect(ChannelTimer(member: text) == nil)
    }
}
