import SignalingWire
import Testing

@testable import GatewayAPILogic

@Suite struct UserPresenceTests {
    private func text(_ members: [JSONMember]?) -> String? { members.map { JSONValue.object($0).compactText } }

    @Test func aSessionWithItsConnection() {
        let presence = UserPresence(["online", "7", "gateway-0", "1795412345999", "room", "203.0.113.7"])
        #expect(text(presence?.summary) == #"{"state":"connected","uid":7,"since":1795412345}"#)
        let details =
            #"{"online":true,"state":"connected","uid":7,"since":1795412345,"gateway":"gateway-0","channels":["room"]"#
        #expect(text(presence?.details(withAddress: false)) == details + "}")
        #expect(text(presence?.details(withAddress: true)) == details + #","address":"203.0.113.7"}"#)
    }

    /// Nil: a gateway of the release before has opened the session; empty: it has resumed it.
    @Test(arguments: [nil, ""]) func aSessionWithoutAnAddress(address: String?) {
        let presence = UserPresence(["online", "7", "gateway-0", "1795412345999", nil, address])
        #expect(text(presence?.details(withAddress: true))?.hasSuffix(#","channels":[],"address":null}"#) == true)
    }

    @Test func aSessionWithoutItsConnection() {
        let presence = UserPresence(["detached", "7", "gateway-0", "1795412345000", nil, "2001:db8::1"])
        #expect(
            text(presence?.details(withAddress: true))
                == #"{"online":true,"state":"detached","uid":7,"since":1795412345,"gateway":null,"channels":[],"#
                + #""address":"2001:db8::1"}"#)
    }

    @Test func noSession() {
        let presence = UserPresence([nil, nil, nil, nil, nil, nil])
        #expect(
            text(presence?.details(withAddress: true))
                == #"{"online":false,"state":"offline","uid":null,"since":null,"gateway":null,"channels":[],"#
                + #""address":null}"#)
    }

    @Test func whatIsNoRecord() {
        #expect(UserPresence([]) == nil)
        #expect(UserPresence(["online", "x", "g", "1", nil, nil]) == nil)
        #expect(UserPresence(["online", "7", "g", nil, nil, nil]) == nil)
    }
}
