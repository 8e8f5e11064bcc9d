import SignalingProtocol
import SignalingWire
import Testing

@Suite struct ClientCallTests {
    private static let line = "s1.secret.app.anna"

    private func call(_ bytes: some Collection<UInt8>) throws -> ClientCall {
        guard case .call(let request) = try ClientFrame(decoding: Array(bytes), line: Self.line) else {
            throw FrameError(.shape, "no call")
        }
        return try request.call.get()
    }

    private func call(_ function: String, _ arguments: String) throws -> ClientCall.Act {
        try call("[\"call2\",[\"\(function)\",0,{\"line\":\"x\",\(arguments)}]]".utf8).act
    }

    private func code(_ function: String, _ arguments: String) -> SignalingCode? {
        do {
            _ = try call(function, arguments)
            return nil
        } catch {
            return (error as? SignalingError)?.code
        }
    }

    @Test func everyFunctionOfTheClients() throws {
        let bob = try Account("bob")
        let room = try ChannelName("room 1")
        let age = try AttributeName("age")
        let key = try AttributeName("k")
        let expected: [(String, ClientCall.Act)] = [
            ("user-getmsg", .session(.pollMailbox(verClear: 1_795_247_864_380, limit: 30))),
            ("user-sendmsg-web", .message(.toUser(bob, seconds: 3600, content: "hi \"there\"\n"))),
            ("user-sendmsg-python", .message(.toUser(bob, seconds: 2_592_000, content: "日本 🙂"))),
            ("user-logout", .session(.logOut)), ("user-query-user-status", .service(.presence(.queryStatus(bob)))),
            ("user-set-attr", .service(.presence(.setAttribute(Attribute(name: age, value: "30"))))),
            ("user-get-attr", .service(.presence(.getAttribute(bob, age)))),
            ("user-get-attr-all", .service(.presence(.listAttributes(bob)))),
            ("channel-join", .session(.join(room))), ("channel-leave", .session(.leave(room))),
            ("channel-sendmsg", .message(.toChannel(room, body: "{\"a\":[1,\"b\",null]}", force: false))),
            ("channel-sendmsg-force", .message(.toChannel(room, body: "hello", force: true))),
            ("channel-set-attr", .service(.changeAttributes(room, .update(Attribute(name: key, value: "v"))))),
            ("channel-del-attr", .service(.changeAttributes(room, .delete(key)))),
            ("channel-clear-attr", .service(.changeAttributes(room, .clear))),
            ("channel-query-num", .service(.member(.count(room)))),
            ("channel-query-user-isin", .service(.member(.query(room, bob)))),
            ("channel-query-userlist", .service(.member(.list(room, limit: 200)))),
            ("channel-query-userlist-all", .service(.member(.list(room, limit: 5)))),
            ("voip-invite", .service(.call(.invite, room, peer: bob, extra: "{\"_timeout\":30}"))),
            ("voip-invite-ack", .service(.call(.acknowledge, room, peer: bob, extra: ""))),
        ]
        for (fixture, act) in expected {
            let call = try call(Fixture.bytes("client/\(fixture).json"))
            #expect(call.act == act && call.isOnItsLine, "\(fixture)")
            #expect(call.act.isMessage == fixture.contains("sendmsg"))
        }
        for verb in CallVerb.allCases {
            let act = try call(verb.rawValue, #""channelName":"room 1","peer":"bob""#)
            #expect(act == .service(.call(verb, room, peer: bob, extra: "")))
        }
    }

    @Test func unknownFunctionsAndMissingLinesAreRefused() throws {
        for function in ["", "no_such_function", "user_getmsg2", "user_ext_call", "voip_invite_failed", "VOIP_INVITE"] {
            #expect(code(function, #""name":"x""#) == .unknown)
        }
        for line in ["", "\"line\":null", "\"line\":[\"s1.secret.app.anna\"]"] {
            #expect {
                try call("[\"call2\",[\"user_logout\",1,{\(line)}]]".utf8)
            } throws: {
                ($0 as? SignalingError)?.code == .notLoggedIn
            }
        }
        for arguments in ["5", "null", "[]", "\"{}\"", "true"] {
            #expect {
                try call("[\"call2\",[\"user_logout\",1,\(arguments)]]".utf8)
            } throws: {
                ($0 as? SignalingError)?.code == .wrongParameter
            }
        }
    }

    @Test(arguments: [
        ("\"s1.secret.app.anna\"", true), ("\"s1.secret.app.ann\\u0061\"", true), ("\"s1.secret.app.ann\"", false),
        ("\"s1.secret.app.bnna\"", false), ("\"\"", false), ("5", false),
        ("\"s1.secret.app.anna\\u0020\"", false), ("\"x\",\"line\":\"s1.secret.app.anna\"", true),
        ("\"s1.secret.app.anna\",\"line\":\"x\"", false),
    ])
    func theLineIsTheConnections(line: String, isRight: Bool) throws {
        #expect(try call("[\"call2\",[\"user_logout\",1,{\"line\":\(line)}]]".utf8).isOnItsLine == isRight)
    }

    @Test func escapesInNamesAreDecoded() throws {
        let text =
            #" [ "c\u0061ll2" , [ "user_\u0073endmsg" , 1 , { "p\u0065er" : "b\u006fb" , "x" : { "peer" : [ 1 ] } "#
            + #","content":"\"","t":"inst\u0061nt","line":"" } ] ] "#
        #expect(try call(text.utf8).act == .message(.toUser(try Account("bob"), seconds: 3600, content: "\"")))
        #expect(
            try call("channel_join", #""name":"a","n\u0061me":"b""#) == .session(.join(try ChannelName("b"))),
            "the last counts")
    }

    @Test func malformedMessageIDsAreIgnored() throws {
        for (value, id) in [
            ("\"m1\"", "m1"), ("\"\"", nil), ("5", nil), ("null", nil),
            ("\"\(String(repeating: "m", count: 64))\"", String(repeating: "m", count: 64)),
            ("\"\(String(repeating: "m", count: 65))\"", nil),
        ] as [(String, String?)] {
            let frame = "[\"call2\",[\"user_logout\",1,{\"line\":\"x\",\"messageID\":\(value)}]]"
            #expect(try call(frame.utf8).messageID == id)
        }
    }

    @Test(arguments: [
        ("channel_join", "name", 128, SignalingCode.wrongParameter),
        ("user_query_user_status", "account", 128, .invalidUser),
        ("user_set_attr\",0,{\"line\":\"x\",\"value\":\"\",\"a\":\"", "name", 128, .wrongParameter),
        ("channel_sendmsg\",0,{\"line\":\"x\",\"name\":\"r\",\"a\":\"", "msg", 8192, .largeParameter),
        ("user_sendmsg\",0,{\"line\":\"x\",\"peer\":\"r\",\"a\":\"", "content", 8192, .largeParameter),
        ("user_set_attr\",0,{\"line\":\"x\",\"name\":\"r\",\"a\":\"", "value", 8096, .largeParameter),
        (
            "channel_set_attr\",0,{\"line\":\"x\",\"name\":\"n\",\"channel\":\"r\",\"a\":\"", "value", 8096,
            .largeParameter
        ),
        (
            "voip_invite_ack\",0,{\"line\":\"x\",\"channelName\":\"n\",\"peer\":\"r\",\"a\":\"", "extra", 8192,
            .largeParameter
        ),
    ])
    func boundsAreInBytes(start: String, argument: String, bound: Int, beyond: SignalingCode) throws {
        func attempt(_ value: String) -> SignalingCode? {
            let text =
                start.contains("{")
                ? "[\"call2\",[\"\(start)\",\"\(argument)\":\"\(value)\"}]]"
                : "[\"call2\",[\"\(start)\",0,{\"line\":\"x\",\"\(argument)\":\"\(value)\"}]]"
            do {
                _ = try call(text.utf8)
                return nil
            } catch {
                return (error as? SignalingError)?.code
            }
        }
        // Each character has two bytes; an escape sequence counts as the bytes of the character it stands for.
        let largest = String(repeating: "é", count: bound / 2 - 1) + "\\u00e9"
        #expect(attempt(largest) == nil)
        #expect(attempt(largest + "a") == beyond)
        #expect(attempt(String(repeating: "a", count: bound + 1)) == beyond)
    }

    @Test(arguments: [
        ("channel_join", ""), ("channel_join", "\"name\":null"), ("channel_join", "\"name\":[]"),
        ("channel_join", "\"name\":true"), ("channel_join", "\"name\":\"\""),
        ("channel_join", "\"name\":\"tab\\there\""),
        ("channel_leave", "\"channel\":\"x\""), ("channel_set_attr", "\"name\":\"k\",\"value\":\"v\""),
        ("channel_set_attr", "\"channel\":\"r\",\"value\":\"v\""),
        ("channel_set_attr", "\"channel\":\"r\",\"name\":\"k\""),
        ("channel_set_attr", "\"channel\":\"r\",\"name\":\"\",\"value\":\"v\""), ("channel_sendmsg", "\"name\":\"r\""),
        ("user_sendmsg", "\"content\":\"x\""), ("user_sendmsg", "\"peer\":\"b\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"t\":\"voip_invite_bye\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"flag\":\"v1\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"flag\":\"v1:E:soon\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"flag\":\"v1:E:\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"flag\":\"v1:E: 60\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"flag\":\"v1:E:nan\""),
        ("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"flag\":3600"), ("voip_invite", "\"channelName\":\"r\""),
        ("voip_invite", "\"channelName\":\"r\",\"peer\":\"b\",\"extra\":\"not JSON\""),
        ("channel_query_userlist_all", "\"name\":\"r\",\"num\":\"all\""),
    ])
    func badArgumentsAreWrongParameters(function: String, arguments: String) throws {
        let separator = arguments.isEmpty ? "\"a\":0" : arguments
        #expect(code(function, separator) == .wrongParameter)
    }

    @Test func badAccountsAreInvalidUsers() {
        for account in ["\"has space\"", "\"\"", "\"tab\\there\""] {
            #expect(code("user_query_user_status", "\"account\":\(account)") == .invalidUser)
            #expect(code("user_sendmsg", "\"content\":\"x\",\"peer\":\(account)") == .invalidUser)
            #expect(code("voip_invite", "\"channelName\":\"r\",\"peer\":\(account)") == .invalidUser)
        }
    }

    @Test(arguments: [
        ("", 0, 30), ("\"ver_clear\":0,\"max\":0", 0, 1), ("\"ver_clear\":-5,\"max\":-1", 0, 1),
        ("\"ver_clear\":null,\"max\":null", 0, 30), ("\"ver_clear\":\"12\",\"max\":\"5\"", 12, 5),
        ("\"ver_clear\":[],\"max\":{}", 0, 30), ("\"ver_clear\":12.0,\"max\":1e9", 12, 1000),
        ("\"ver_clear\":1e400,\"max\":1e400", 0, 30), ("\"ver_clear\":9223372036854775807", Int64.max, 30),
    ])
    func aPollIsNeverRefused(arguments: String, verClear: Int64, limit: Int) throws {
        let act = try call("user_getmsg", arguments.isEmpty ? "\"a\":0" : arguments)
        #expect(act == .session(.pollMailbox(verClear: verClear, limit: limit)))
    }

    @Test(arguments: [
        ("v1:E:60", 60), ("v1:E:0", 1), ("v1:E:-1", 1), ("v1:E:1e300", 2_592_000), ("v1:E:2592001", 2_592_000),
        ("v1:E:inf", 2_592_000), ("v1:E:60:more", 60), ("::7", 7),
        ("v1:E:+5", 5), ("v1:E:2.9", 2), ("v1:E:99999999999999999999", 2_592_000),
    ])
    func theTimeToLiveIsBounded(flag: String, seconds: Int) throws {
        let act = try call("user_sendmsg", "\"peer\":\"b\",\"content\":\"x\",\"t\":\"instant\",\"flag\":\"\(flag)\"")
        #expect(act == .message(.toUser(try Account("b"), seconds: seconds, content: "x")))
    }

    @Test func otherJSONValuesAreTakenAsCompactText() throws {
        let room = try ChannelName("5")
        for (value, text) in [
            ("30", "30"), ("1.50", "1.50"), ("null", "null"), ("true", "true"), ("{ \"a\" : [ 1 ] }", "{\"a\":[1]}"),
            ("\"\"", ""),
        ] {
            let act = try call("channel_sendmsg", "\"name\":5,\"msg\":\(value)")
            #expect(act == .message(.toChannel(room, body: text, force: false)))
        }
        let invite = try call("voip_invite", "\"channelName\":\"5\",\"peer\":49,\"extra\":{\"_timeout\": 5}")
        #expect(invite == .service(.call(.invite, room, peer: try Account("49"), extra: "{\"_timeout\":5}")))
        // In other functions of calls `extra` may be any text.
        let bye = try call("voip_invite_bye", "\"channelName\":\"5\",\"peer\":\"49\",\"extra\":\"not JSON\"")
        #expect(bye == .service(.call(.end, room, peer: try Account("49"), extra: "not JSON")))
    }

    @Test func forceIsTrueOrOne() throws {
        for (value, force) in [
            ("true", true), ("1", true), ("false", false), ("0", false), ("null", false), ("\"\"", false),
        ] {
            let act = try call("channel_sendmsg", "\"name\":\"r\",\"msg\":\"m\",\"force\":\(value)")
            #expect(act == .message(.toChannel(try ChannelName("r"), body: "m", force: force)))
        }
    }

    @Test func listsAreBounded() throws {
        let room = try ChannelName("r")
        for (num, limit) in [("0", 1), ("-1", 1), ("2000000", 1_000_000), ("null", 1_000_000), ("\"7\"", 7)] {
            let act = try call("channel_query_userlist_all", "\"name\":\"r\",\"num\":\(num)")
            #expect(act == .service(.member(.list(room, limit: limit))))
        }
        #expect(
            try call("channel_query_userlist_all", "\"name\":\"r\"") == .service(.member(.list(room, limit: 1_000_000)))
        )
    }
}
