import PresenceLogic
import SignalingProtocol
import Testing

@Suite struct UserAttributeRulesTests {
    private func check(_ name: String, _ value: String) -> SignalingError? {
        do throws(SignalingError) {
            try UserAttributeRules.check(Attribute(name: try AttributeName(name), value: value))
            return nil
        } catch {
            return error
        }
    }

    @Test func ordinaryNamesTakeAnyValueUpToTheBound() {
        #expect(check("mood", "") == nil)
        #expect(check("mood", String(repeating: "x", count: 8096)) == nil)
        #expect(check("mood", String(repeating: "x", count: 8097))?.code == .largeParameter)
        // The limit counts bytes, not characters.
        #expect(check("mood", String(repeating: "é", count: 4049))?.code == .largeParameter)
    }

    @Test func unknownBuiltInsAreRefused() {
        #expect(check("_unknown", "1")?.code == .wrongParameter)
        #expect(check("_conn_timeout", "30") == nil)
        #expect(check("_conn_timeout", "soon")?.reason == .notAnInteger)
    }

    @Test(arguments: [("5", 20), ("20", 20), ("77", 77), ("121", 120), ("-1", 20)])
    func timeoutsAreClamped(_ value: String, _ seconds: Int) throws {
        #expect(ConnectionTimeout.duration(value) == .seconds(seconds))
        let attribute = Attribute(name: try AttributeName("_conn_timeout"), value: value)
        #expect(UserAttributeRules.sessionTimeout(attribute) == .seconds(seconds))
    }

    @Test func noOrUnreadableTimeoutIsTheDefault() throws {
        #expect(ConnectionTimeout.duration(nil) == .seconds(120))
        #expect(ConnectionTimeout.duration("x") == .seconds(120))
        #expect(UserAttributeRules.sessionTimeout(Attribute(name: try AttributeName("a"), value: "30")) == nil)
    }
}
