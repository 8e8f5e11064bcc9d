import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

/// What is asked about channels, and changed in them.
extension APIRequestTests {
    @Test func rangesOfHistories() throws {
        let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("c"))
        func page(_ query: String) throws -> APIAct { try act("GET", "/v1/apps/a/channels/c/messages?\(query)") }
        func expected(_ range: HistoryRange, _ limit: Int = 100) -> APIAct {
            .channels(.readHistory(channel, HistoryPage(onlyMessages: true, in: range, limit: limit)))
        }
        #expect(try page("order=descending&limit=3") == expected(HistoryRange(isDescending: true), 3))
        #expect(try page("order=ascending&after=0") == expected(HistoryRange(isDescending: false)))
        #expect(try page("order=descending&after=0") == expected(HistoryRange(isDescending: true)), "the beginning")
        #expect(
            try page("order=descending&after=7&from=0&until=9")
                == expected(HistoryRange(isDescending: true, after: 7, from: 0, until: 9)))
        for (query, field) in [
            ("order=up", "order"), ("from=-1", "from"), ("until=9007199255", "until"), ("from=x", "from"),
            ("before=1", "before"),
        ] {
            let found = problem("GET", "/v1/apps/a/channels/c/events?\(query)")
            #expect(found?.code == .invalidArgument && found?.field == field && found?.bound != nil, "\(query)")
        }
    }

    @Test func anAttributeIsDeletedIfItHasAValue() throws {
        let path = "/v1/apps/a/users/u/attributes/n"
        func deletion(_ expectation: AttributeExpectation) throws -> APIAct {
            .attributes(
                .changeOfUser(
                    ChangeUserAttribute(
                        user: UserKey(app: try AppID("a"), account: try Account("u")), name: try AttributeName("n"),
                        value: nil, expectation: expectation)))
        }
        #expect(try act("DELETE", path) == deletion(.any))
        #expect(try act("DELETE", path + "?expected=a%0Ab+c%2B") == deletion(.value("a\nb c+")))
        #expect(try act("DELETE", path + "?expected=") == deletion(.value("")))
        let long = String(repeating: "x", count: Limits.attributeValueBytes)
        #expect(try act("DELETE", path + "?expected=" + long) == deletion(.value(long)))
        for place in ["users/u", "channels/c"] {
            let found = problem("DELETE", "/v1/apps/a/\(place)/attributes/n?expected=\(long)x")
            #expect(found?.field == "expected" && found?.bound == "0...\(Limits.attributeValueBytes) bytes")
        }
    }

    @Test func restrictions() throws {
        let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("c d"))
        let bob = APIAct.ChannelMember(channel: channel, account: try Account("bob"))
        let path = "/v1/apps/a/channels/c%20d"
        for (kind, word) in [(RestrictionKind.ban, "bans"), (.mute, "mutes")] {
            let one = "\(path)/\(word)/bob"
            #expect(
                try act("PUT", one, #"{"seconds": 2592000, "reason": "spam"}"#)
                    == .moderation(.restrict(bob, kind, seconds: 2_592_000, reason: "spam")))
            #expect(
                try act("DELETE", one)
                    == .moderation(.lift(LiftRestriction(channel: channel, account: bob.account, kind: kind))))
            #expect(
                try act("GET", "\(path)/\(word)?limit=5&after=x")
                    == .moderation(.list(ListRestrictions(channel: channel, kind: kind, after: "x", limit: 5))))
            let long = String(repeating: "x", count: 513)
            for (body, field) in [
                ("{}", "seconds"), (#"{"seconds": -1}"#, "seconds"), (#"{"seconds": 2592001}"#, "seconds"),
                (#"{"seconds": 1, "reason": "\#(long)"}"#, "reason"),
                (#"{"seconds": 1, "reason": "\u0000"}"#, "reason"), (#"{"seconds": 1, "until": 5}"#, "until"),
            ] {
                let found = problem("PUT", one, body)
                #expect(found?.code == .invalidArgument && found?.field == field && found?.bound != nil, "\(body)")
            }
            let special = "/v1/apps/a/channels/_agora_user_online/\(word)/b"
            #expect(problem("PUT", special, #"{"seconds": 1}"#)?.field == "channel")
            #expect(problem("GET", "\(path)/\(word)?limit=1001")?.field == "limit")
        }
        // Only a removal needs no time.
        #expect(
            try act("PUT", path + "/bans/bob", #"{"seconds": 0}"#)
                == .moderation(.restrict(bob, .ban, seconds: 0, reason: "")))
        #expect(problem("PUT", path + "/mutes/bob", #"{"seconds": 0}"#)?.field == "seconds")
    }

    @Test func history() throws {
        let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("c"))
        #expect(
            try act("GET", "/v1/apps/a/channels/c/messages")
                == .channels(
                    .readHistory(
                        channel, HistoryPage(onlyMessages: true, in: HistoryRange(isDescending: false), limit: 100))))
        #expect(
            try act("GET", "/v1/apps/a/channels/c/events?after=9007199254740991&limit=1000")
                == .channels(
                    .readHistory(
                        channel,
                        HistoryPage(
                            onlyMessages: false,
                            in: HistoryRange(isDescending: false, after: 9_007_199_254_740_991), limit: 1000))))
        for (query, field) in [
            ("limit=0", "limit"), ("limit=1001", "limit"), ("after=-1", "after"), ("after=9007199254740992", "after"),
            ("after=", "after"), ("kind=x", "kind"),
        ] {
            #expect(problem("GET", "/v1/apps/a/channels/c/messages?\(query)")?.field == field, "\(query)")
        }
    }

    @Test func attributes() throws {
        let user = UserKey(app: try AppID("a"), account: try Account("bob"))
        let name = try AttributeName("n")
        func change(_ value: String?, _ expectation: AttributeExpectation) -> APIAct {
            .attributes(
                .changeOfUser(
                    ChangeUserAttribute(user: user, name: name, value: value, expectation: expectation)))
        }
        let path = "/v1/apps/a/users/bob/attributes/n"
        #expect(try act("PUT", path, #"{"value": "v"}"#) == change("v", .any))
        #expect(try act("PUT", path, #"{"value": "v", "expected": null}"#) == change("v", .absent))
        #expect(try act("PUT", path, #"{"value": "", "expected": "w"}"#) == change("", .value("w")))
        #expect(try act("DELETE", path) == change(nil, .any))
        #expect(problem("PUT", path, #"{"expected": "w"}"#)?.field == "value")
        #expect(problem("PUT", path, #"{"value": "v", "expected": 1}"#)?.field == "expected")
        let long = String(repeating: "x", count: 8097)
        #expect(problem("PUT", path, #"{"value": "\#(long)"}"#)?.field == "value")
    }
}
