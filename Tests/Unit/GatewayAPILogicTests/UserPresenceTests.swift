import SignalingWire
import Testing

@testable import GatewayAPILogic

@Suite struct UserPresenceTests {
    private func text(_ members: [JSONMember]?) -> String? { members.map { JSONValue.object($0).compactText } }

    @Test func aSessionWithItsConnection() {
        let presence = UserPresence(["online", "7", "gateway-0", "1795412345999", "room"])
        #expect(text(presence?.summary) == #"{"state":"connected","uid":7,"since":1795412345}"#)
        #expect(
            text(presence?.details)
                == #"{"online":true,"state":"connected","uid":7,"since":1795412345,"gateway":"gateway-0","#
                + #""channels":["room"]}"#)
    }

    @Test func aSessionWithoutItsConnection() {
        let presence = UserPresence(["detached", "7", "gateway-0", "1795412345000", nil])
        #expect(
            text(presence?.details)
                == #"{"online":true,"state":"detached","uid":7,"since":1795412345,"gateway":null,"channels":[]}"#)
    }

    @Test func noSession() {
        let presence = UserPresence([nil, nil, nil, nil, nil])
        #expect(
            text(presence?.details)
                == #"{"online":false,"state":"offline","uid":null,"since":null,"gateway":null,"channels":[]}"#)
    }

    @Test func whatIsNoRecord() {
        #expect(UserPresence([]) == nil)
        #expect(UserPresence(["online", "x", "g", "1", nil]) == nil)
        #expect(UserPresence(["online", "7", "g", nil, nil]) == nil)
    }
}
