import InvitationLogic
import SignalingProtocol
import Testing

@Suite struct InvitationTimerTests {
    @Test func `a timer is read as what it was written for`() {
        let call = InvitationTimer.call(CallTimerReference(CallTimer(.ring, of: CallID("c-1")), tag: "{call:a:b:c}"))
        #expect(call.words == ["ring", "c-1", "{call:a:b:c}"])
        #expect(InvitationTimer(words: call.words) == call)
        // Must match the name that the heartbeat of the bridge's lease writes.
        let bridge = InvitationTimer.bridge(BridgeID("bridge-7"))
        #expect(bridge.words == ["bridge", "bridge-7"])
        #expect(InvitationTimer(words: bridge.words) == bridge)
    }

    @Test(arguments: [
        "", "ring", "ring c-1", "ring c-1 {tag} more", "gong c-1 {tag}", "bridge", "bridge a b", "gateway a",
    ])
    func `what no version of the service wrote is no timer`(_ words: String) {
        #expect(InvitationTimer(words: words.split(separator: " ").map(String.init)) == nil)
    }

    @Test func `a reference to a call is read as it was written`() {
        let reference = CallReference(call: CallID("c-1"), tag: "{call:a:b:c}")
        #expect(reference.text == "c-1 {call:a:b:c}")
        #expect(CallReference(text: reference.text) == reference)
        for other in ["", "c-1", "c-1 {call:a:b:c} more"] { #expect(CallReference(text: other) == nil) }
    }
}
