import SignalingProtocol
import Testing

@testable import ChannelStateServer

@Suite struct MemberInfoTests {
    @Test func `a member's line has the uid and the session`() {
        let info = MemberInfo(text: "7 g1-a b")
        #expect(info?.uid == 7)
        #expect(info?.session == SessionID("g1-a b"))
        // What channel_members.lua writes where Redis has lost the member's line.
        #expect(MemberInfo(text: "0 -")?.uid == 0)
    }

    @Test(arguments: ["", "x s", "-1 s", "4294967296 s"])
    func `other text is no member's line`(_ text: String) {
        #expect(MemberInfo(text: text) == nil)
    }
}
