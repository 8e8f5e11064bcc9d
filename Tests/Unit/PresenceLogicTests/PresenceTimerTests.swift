import PresenceLogic
import SignalingProtocol
import Testing

@Suite struct PresenceTimerTests {
    @Test func membersAreReadBack() throws {
        let user = UserKey(app: try AppID("a:b{c}"), account: try Account("x.y:z%20é"))
        let timers: [PresenceTimer] = [
            .gateway(GatewayID("gw-1:2")), .session(user, SessionID("s-1")), .attributes(user),
        ]
        for timer in timers { #expect(PresenceTimer(member: timer.member) == timer) }
    }

    @Test func theGatewaysTimerIsTheOneThatItsHeartbeatSets() {
        #expect(PresenceTimer.gateway(GatewayID("g1")).member == "gateway:g1")
    }

    @Test(arguments: ["", "gateway", "session:a:b", "session:%zz:b:c", "attributes:a:b:c", "other:a:b"])
    func otherTextIsNoTimer(_ text: String) {
        #expect(PresenceTimer(member: text) == nil)
    }

    @Test func routesAreLinesWithoutSecret() throws {
        let user = UserKey(app: try AppID("app"), account: try Account("a.b"))
        let route = SessionRoute(user: user, session: SessionID("g1-2"))
        #expect(route.text == "g1-2.-.app.a%2Eb")
        #expect(SessionRoute(text: route.text) == route)
        #expect(SessionRoute(text: "nonsense") == nil)
    }
}
