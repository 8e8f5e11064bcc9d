import SignalingProtocol
import SignalingWire
import Testing

@Suite struct MessageLineTests {
    @Test func linesAreThese() throws {
        let anna = try Account("anna")
        let bob = try Account("bob")
        #expect(
            MessageLine.instant(from: anna, to: bob, ttl: 3600, time: 5, content: " hi\n there ")
                == "msg-v2 anna bob v1:E:3600 instant 5  hi\n there ")
        // A trailing space must be preserved.
        #expect(
            MessageLine.instant(from: anna, to: bob, ttl: 1, time: 5, content: "")
                == "msg-v2 anna bob v1:E:1 instant 5 ")
        let content = CallContent(
            channel: try ChannelName("room \"1\""), peer: "anna", extra: "{\"a\":1}", peerUID: .max)
        #expect(content.text == #"{"channel":"room \"1\"","peer":"anna","extra":"{\"a\":1}","peeruid":4294967295}"#)
        #expect(
            MessageLine.call(.invite, MessageLine.Header(from: "anna", to: bob, ttl: 20, time: 5), content)
                == "msg-v2 anna bob v1:E:20 voip_invite 5 " + content.text)
        #expect(
            MessageLine.call(
                type: "voip_invite_failed", MessageLine.Header(from: "bob", to: anna, ttl: 20, time: 5), content)
                == "msg-v2 bob anna v1:E:20 voip_invite_failed 5 " + content.text)
    }
}
