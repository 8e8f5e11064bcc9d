import PresenceLogic
import SignalingProtocol
import Testing

@Suite struct PresenceTimerTests {
    @Test func wordsAreReadBack() throws {
        let user = UserKey(app: try AppID("a:b{c}"), account: try Account("x.y:z%20é"))
        let timers: [PresenceTimer] = [
            .gateway(GatewayID("gw-1:2")), .session(user, SessionID("s-1")), .attributes(user),
        ]
        for timer in timers { #expect(PresenceTimer(words: timer.words) == timer) }
    }

    @Test func theGatewaysTimerIsTheOneThatItsHeartbeatSets() {
        #expect(PresenceTimer.gateway(GatewayID("g1")).words == ["gateway", "g1"])
    }

    @Test func eachKindHasItsWords() throws {
        let user = UserKey(app: try AppID("a"), account: try Account("anna"))
        #expect(PresenceTimer.session(user, SessionID("s-1")).words == ["session", "a", "anna", "s-1"])
        #expect(PresenceTimer.attributes(user).words == ["attributes", "a", "anna"])
    }

    @Test(arguments: ["", "gateway", "gateway a b", "session a b", "attributes a b c", "other a b"])
    func otherWordsAreNoTimer(_ text: String) {
        #expect(PresenceTimer(words: text.split(separator: " ").map(String.init)) == nil)
    }
}
