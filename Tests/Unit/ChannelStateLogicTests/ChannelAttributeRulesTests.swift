import ChannelStateLogic
import SignalingProtocol
import Testing

@Suite struct ChannelAttributeRulesTests {
    private func check(_ change: AttributeChange) -> SignalingError? {
        do throws(SignalingError) {
            try ChannelAttributeRules.check(change)
            return nil
        } catch {
            return error
        }
    }

    private func update(_ name: String, _ value: String) throws -> AttributeChange {
        .update(Attribute(name: try AttributeName(name), value: value))
    }

    @Test func valuesAreBounded() throws {
        #expect(check(try update("topic", String(repeating: "x", count: 8096))) == nil)
        #expect(check(try update("topic", String(repeating: "x", count: 8097)))?.code == .largeParameter)
    }

    @Test(arguments: ["_member_num", "_total_member_num"])
    func theSystemsOwnAreReadOnly(_ name: String) throws {
        #expect(check(try update(name, "1"))?.reason == "read_only")
        #expect(check(.delete(try AttributeName(name)))?.reason == "read_only")
    }

    @Test func unknownBuiltInsAreRefused() throws {
        #expect(check(try update("_x", "1"))?.code == .wrongParameter)
        #expect(check(.delete(try AttributeName("_x")))?.code == .wrongParameter)
        #expect(check(.clear) == nil)
    }

    @Test(arguments: [
        ("_userNotification", "0", true), ("_userNotification", "2", false), ("_channel_ttl", "60", true),
        ("_channel_ttl", "-1", false), ("_sendmsg_limit", "many", false), ("_setattr_limit", "5", true),
        ("_auto_update_num", "3", true),
    ])
    func builtInsTakeNumbersOfTheirRange(_ name: String, _ value: String, _ isGood: Bool) throws {
        #expect((check(try update(name, value)) == nil) == isGood)
    }

    @Test func whatIsCountedAndWhatSetsTheTimeToLive() throws {
        #expect(ChannelAttributeRules.countedName(try update("a", "1")) == "a")
        #expect(ChannelAttributeRules.countedName(.delete(try AttributeName("b"))) == "b")
        #expect(ChannelAttributeRules.countedName(.clear) == "")
        #expect(ChannelAttributeRules.timeToLive(setBy: try update("_channel_ttl", "9")) == 9)
        #expect(ChannelAttributeRules.timeToLive(setBy: try update("a", "9")) == nil)
    }
}
