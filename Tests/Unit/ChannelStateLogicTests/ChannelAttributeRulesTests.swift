import ChannelStateLogic
import SignalingProtocol
import Testing

@Suite struct ChannelAttributeRulesTests {
    private func check(_ change: AttributeChange, of channel: String = "room") -> SignalingError? {
        do throws(SignalingError) {
            try ChannelAttributeRules.check(change, of: try ChannelName(channel))
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
        #expect(check(try update(name, "1"))?.reason == .readOnly)
        #expect(check(.delete(try AttributeName(name)))?.reason == .readOnly)
    }

    @Test func unknownBuiltInsAreRefused() throws {
        #expect(check(try update("_x", "1"))?.code == .wrongParameter)
        #expect(check(.delete(try AttributeName("_x")))?.code == .wrongParameter)
        #expect(check(.clear) == nil)
    }

    @Test(arguments: [
        ("_userNotification", 0, 1), ("_channel_ttl", 0, 31_536_000), ("_auto_update_num", 0, 86_400),
        ("_auto_update_total_num", 0, 86_400), ("_sendmsg_limit", 1, 1_000_000), ("_setattr_limit", 1, 1_000_000),
    ])
    func builtInsTakeNumbersOfTheirRange(_ name: String, _ least: Int, _ most: Int) throws {
        for good in [least, most] { #expect(check(try update(name, "\(good)")) == nil) }
        for bad in ["\(least - 1)", "\(most + 1)", "", "many", "+1", "01", "-0", "1.0", " 1", "9223372036854775808"] {
            let refused = check(try update(name, bad))
            #expect(refused?.code == .wrongParameter && refused?.reason == .invalidBuiltIn, "\(bad)")
        }
        #expect(check(.delete(try AttributeName(name))) == nil)
    }

    @Test(arguments: [
        "_agora_user_online", "__agora_user_online", "_agora_channel_event", "__agora_channel_event",
    ])
    func specialChannelsHaveNoBuiltIns(_ channel: String) throws {
        for change in [try update("_channel_ttl", "60"), .delete(try AttributeName("_userNotification"))] {
            let refused = check(change, of: channel)
            #expect(refused?.code == .wrongParameter && refused?.reason == .specialChannel)
        }
        #expect(check(try update("topic", "60"), of: channel) == nil)
        #expect(check(.clear, of: channel) == nil)
    }

    @Test func theNameThatTheLimitCounts() throws {
        #expect(ChannelAttributeRules.countedName(try update("a", "1")) == "a")
        #expect(ChannelAttributeRules.countedName(.delete(try AttributeName("b"))) == "b")
        #expect(ChannelAttributeRules.countedName(.clear) == "")
    }

    @Test func whichTimersAChangeMoves() throws {
        func moved(_ change: AttributeChange, _ name: String = "room") throws -> ChannelAttributeRules.AffectedTimers {
            let channel = ChannelKey(app: try AppID("app"), name: try ChannelName(name))
            return ChannelAttributeRules.timers(affectedBy: change, of: channel)
        }
        #expect(try moved(update("_channel_ttl", "9")) == .expiry)
        #expect(try moved(.delete(AttributeName("_channel_ttl"))) == .expiry)
        #expect(try moved(.clear) == .expiry)
        #expect(try moved(.clear, "__agora_user_online") == .none)
        #expect(try moved(update("_auto_update_num", "9")) == .counters)
        #expect(try moved(.delete(AttributeName("_auto_update_total_num"))) == .counters)
        #expect(try moved(update("_sendmsg_limit", "9")) == .none)
        #expect(try moved(update("topic", "9")) == .none)
    }
}
