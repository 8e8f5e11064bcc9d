import InvitationLogic
import SignalingProtocol
import Testing

@Suite struct InvitationTimerTests {
    @Test func `a timer is read as what it was written for`() {
        let call = InvitationTimer.call(CallTimerReference(CallTimer(.ring, of: CallID("c-1")), tag: "{call:a:b:c}"))
        #expect(call.member == "ring c-1 {call:a:b:c}")
        #expect(InvitationTimer(member: call.member) == call)
        // Must match the name that the heartbeat of the bridge's lease writes.
        let bridge = InvitationTimer.bridge(BridgeID("bridge-7 x"))
        #expect(bridge.member == "gateway:bridge-7 x")
        #expect(InvitationTimer(member: bridge.member) == bridge)
    }

    @Test(arguments: ["", "ring", "ring c-1", "ring c-1 {tag} more", "gong c-1 {tag}"])
    func `what no version of the service wrote is no timer`(_ member: String) {
        #expect(InvitationTimer(member: member) == nil)
    }

    @Test func `a reference to a call is read as it was written`() {
        let reference = CallReference(call: CallID("c-1"), tag: "{call:a:b:c}")
        #expect(reference.text == "c-1 {call:a:b:c}")
        #expect(CallReference(text: reference.text) == reference)
        #expect(CallReference(text: "c-1") == nil)
    }
}
