import GatewayLogic
import SignalingProtocol
import Testing

@Suite struct DiscoveryQueryTests {
    private static func subject(_ query: String) throws -> String? {
        try DiscoveryQuery(target: "/getaddr" + query).subject
    }

    @Test(arguments: ["", "?", "?vid=", "?vid=a%2", "?vid=a&vid=b", "?x=1&&=", "?Channel=x", "#?channel=x"])
    func theOldClientsSendWhatTheyLike(query: String) throws {
        #expect(try Self.subject(query) == nil)
    }

    @Test func channelsAndApps() throws {
        #expect(try Self.subject("?vid=app&channel=all") == "{a:app:c:all}")
        #expect(try Self.subject("?channel=a+b%2fc%3A&vid=my%3aapp#x") == "{a:my%3Aapp:c:a%20b/c%3A}")
        #expect(try Self.subject("?app=app") == "{a:app}")
        #expect(try Self.subject("?vid=app&app=app") == "{a:app}")
    }

    @Test(arguments: [
        ("?channel=x", "channel needs vid"),
        ("?vid=&channel=x", "an app id must have"),
        ("?vid=a&channel=", "a channel name must have"),
        ("?vid=a&channel", "a channel name must have"),
        ("?vid=a&channel=%0a", "a channel name must have"),
        ("?vid=a&channel=%ff", "channel is not percent-encoded"),
        ("?vid=a&channel=%4", "channel is not percent-encoded"),
        ("?vid=%x1&channel=x", "vid is not percent-encoded"),
        ("?vid=a&channel=x&channel=x", "channel is given more than once"),
        ("?vid=a&vid=a&channel=x", "vid is given more than once"),
        ("?vid=a&channel=x&app=a", "exclude each other"),
        ("?app=", "an app id must have"),
        ("?app=a%20b", "an app id must have"),
        ("?vid=a&app=b", "vid and app differ"),
    ]) func refused(query: String, text: String) {
        let error = #expect(throws: SignalingError.self) { try Self.subject(query) }
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
}
