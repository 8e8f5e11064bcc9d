import ClusterState
import SignalingProtocol
import Testing

@Suite struct SessionRouteTests {
    @Test func textsAreReadBack() throws {
        for (app, account) in [("app", "anna"), ("a:b{c}", "x.y:z%20é"), ("a:u:b", ":"), ("%", "e\u{301}")] {
            let user = UserKey(app: try AppID(app), account: try Account(account))
            let route = SessionRoute(user: user, session: SessionID("g1-2"))
            #expect(SessionRoute(text: route.text) == route)
            #expect(SessionRoute.session(of: route.text) == route.session)
        }
    }

    /// The functions of presence write the same text.
    @Test func theTextIsTheSessionAndWhatNamesTheUserInKeys() throws {
        let user = UserKey(app: try AppID("app"), account: try Account("a.b"))
        #expect(SessionRoute(user: user, session: SessionID("g1-2")).text == "g1-2 a:app:u:a%2Eb")
    }

    @Test(
        arguments: [
            "", "nonsense", " a:app:u:b", "s", "s ", "s a:app:u", "s a:app:u:b:c", "s b:app:u:b", "s a:app:c:b",
            "s a::u:b",
            "s a:app:u:%2", "s a:app:u:a%20b",
        ])
    func otherTextsAreNoRoutes(_ text: String) {
        #expect(SessionRoute(text: text) == nil)
    }

    @Test func aGatewaysRoutesLieInTheSlotOfTheirUsers() throws {
        let gateway = GatewayID("g1")
        #expect(KeySpace.routes(gateway, bucket: 4058) == "{37x}r:g1")
        for number in 0..<100 {
            let user = UserKey(app: try AppID("app"), account: try Account("user\(number)"))
            let bucket = Buckets.bucket(of: KeySpace.name(user))
            #expect(KeySlot.of(KeySpace.routes(gateway, bucket: bucket)) == KeySlot.of(KeySpace.tag(user) + ":session"))
        }
    }
}
