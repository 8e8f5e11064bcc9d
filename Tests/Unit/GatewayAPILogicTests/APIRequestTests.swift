import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

@Suite struct APIRequestTests {
    private func act(_ method: String, _ target: String, _ body: String? = nil) throws -> APIAct {
        let body = try body.map { try JSONValue.parse($0.utf8) }
        return try APIRequest(method: method, target: target).act(body: body)
    }

    private func problem(_ method: String, _ target: String, _ body: String? = nil) -> APIProblem? {
        do {
            _ = try act(method, target, body)
            return nil
        } catch {
            return error as? APIProblem
        }
    }

    @Test func everyOperationIsFoundByItsTemplate() throws {
        for operation in APIOperation.all {
            let path = operation.template.replacing("{", with: "").replacing("}", with: "")
            let match = try APIRouter.match(method: operation.method, path: path[...])
            #expect(match.operation == operation, "\(operation.id)")
            #expect(match.parameters.allSatisfy { $0.key == $0.value }, "\(operation.id)")
        }
    }

    @Test func namesArePercentDecoded() throws {
        let user = UserKey(app: try AppID("a"), account: try Account("b/c:ü"))
        #expect(try act("GET", "/v1/apps/a/users/b%2Fc%3a%C3%BC") == .users(.get(user)))
        #expect(problem("GET", "/v1/apps/a/users/%FF")?.code == .malformed)
        #expect(problem("GET", "/v1/apps/a/users/%2")?.code == .malformed)
        #expect(problem("GET", "/v1/apps/a/users/")?.field == "account")
        #expect(problem("GET", "/v1/apps/a/users/\(String(repeating: "x", count: 129))")?.field == "account")
    }

    @Test(arguments: SpecialChannel.allCases.flatMap { [$0.rawValue, "_" + $0.rawValue] })
    func onlyTheSystemSpeaksInSpecialChannels(_ name: String) throws {
        let path = "/v1/apps/a/channels/\(name)"
        #expect(problem("POST", "\(path)/messages", #"{"from":"x","message":"y"}"#)?.field == "channel")
        #expect(problem("PUT", "\(path)/attributes/n", #"{"value":"y"}"#)?.field == "channel")
        #expect(problem("DELETE", "\(path)/attributes/n")?.field == "channel")
        #expect(problem("POST", "/v1/apps/a/calls", #"{"from":"x","to":"y","channel":"\#(name)"}"#)?.field == "channel")
        let items = #"{"items":[{"channel":"\#(name)","from":"x","message":"y"}]}"#
        #expect(problem("POST", "/v1/apps/a/messages", items)?.field == "items[0].channel")
        // Anybody may read.
        #expect(throws: Never.self) { try act("GET", "\(path)/members") }
    }

    /// Most HTTP clients leave such segments out of paths, so that these names could not be reached.
    @Test(arguments: [".", ".."])
    func namesThatComeIntoUseAreNoDotSegments(_ dots: String) throws {
        let (user, channel) = ("/v1/apps/a/users", "/v1/apps/a/channels")
        let value = #"{"value":"y"}"#
        for (method, target, body, field) in [
            ("POST", "\(user)/\(dots)/messages", #"{"from":"x","message":"y"}"#, "account"),
            ("POST", "\(user)/u/messages", #"{"from":"\#(dots)","message":"y"}"#, "from"),
            ("POST", "\(user)/\(dots)/tokens", "{}", "account"),
            ("PUT", "\(user)/\(dots)/attributes/n", value, "account"),
            ("PUT", "\(user)/u/attributes/\(dots)", value, "name"),
            ("POST", "\(channel)/\(dots)/messages", #"{"from":"x","message":"y"}"#, "channel"),
            ("PUT", "\(channel)/\(dots)/attributes/n", value, "channel"),
            ("PUT", "\(channel)/c/attributes/\(dots)", value, "name"),
            ("POST", "/v1/apps/a/broadcasts", #"{"users":["u","\#(dots)"],"from":"x","message":"y"}"#, "users[1]"),
            (
                "POST", "/v1/apps/a/messages", #"{"items":[{"user":"\#(dots)","from":"x","message":"y"}]}"#,
                "items[0].user"
            ),
            (
                "POST", "/v1/apps/a/messages", #"{"items":[{"channel":"\#(dots)","from":"x","message":"y"}]}"#,
                "items[0].channel"
            ),
            ("POST", "/v1/apps/a/calls", #"{"from":"\#(dots)","to":"y","channel":"c"}"#, "from"),
            ("POST", "/v1/apps/a/calls", #"{"from":"x","to":"\#(dots)","channel":"c"}"#, "to"),
            ("POST", "/v1/apps/a/calls", #"{"from":"x","to":"y","channel":"\#(dots)"}"#, "channel"),
        ] {
            let found = problem(method, target, body)
            #expect(found?.code == .invalidArgument && found?.field == field, "\(method) \(target) \(body)")
        }
    }

    @Test(arguments: [".", ".."])
    func whatAnOlderVersionStoredUnderDotSegmentsCanBeReadAndDeleted(_ dots: String) throws {
        for (method, target) in [
            ("GET", "users/\(dots)"), ("POST", "users/\(dots)/disconnect"), ("GET", "users/\(dots)/ban"),
            ("DELETE", "users/\(dots)/ban"), ("GET", "users/\(dots)/attributes/\(dots)"),
            ("DELETE", "users/\(dots)/attributes/\(dots)"), ("GET", "channels/\(dots)/members"),
            ("DELETE", "channels/\(dots)/attributes/\(dots)"),
        ] {
            #expect(throws: Never.self) { try act(method, "/v1/apps/a/\(target)") }
        }
        #expect(throws: Never.self) { try act("PUT", "/v1/apps/a/users/\(dots)/ban", #"{"seconds":60}"#) }
    }

    @Test func presence() throws {
        let app = try AppID("a")
        let users = try ["ann", ".", "ann"].map { UserKey(app: app, account: try Account($0)) }
        #expect(try act("POST", "/v1/apps/a/presence", #"{"users":["ann",".","ann"]}"#) == .users(.presence(users)))
        func body(_ count: Int) -> String {
            "{\"users\":[\((0..<count).map { "\"u\($0)\"" }.joined(separator: ","))]}"
        }
        // Ten count as a request.
        for (count, cost) in [(1, 1), (10, 1), (11, 2), (1000, 100)] {
            guard case .once(let act) = try act("POST", "/v1/apps/a/presence", body(count)) else {
                return #expect(Bool(false))
            }
            #expect(act.cost == cost)
        }
        for (body, field, bound) in [
            (body(0), "users", "a list of 1...1000"), (body(1001), "users", "a list of 1...1000"),
            (#"{"users":"ann"}"#, "users", "a list of 1...1000"), (#"{"users":["ann",7]}"#, "users[1]", "a string"),
            (
                #"{"users":["ann","a b"]}"#, "users[1]",
                "1...128 bytes without white space and control characters"
            ), ("{}", "users", "a list of 1...1000"), (#"{"users":["a"],"more":1}"#, "more", "users"),
        ] {
            let found = problem("POST", "/v1/apps/a/presence", body)
            #expect(found?.code == .invalidArgument && found?.field == field && found?.bound == bound)
        }
    }

    @Test func mailboxes() throws {
        let user = UserKey(app: try AppID("a"), account: try Account("bob"))
        let path = "/v1/apps/a/users/bob/mailbox"
        #expect(try act("GET", path) == .mailbox(.list(user, MailPage(after: 0, limit: 100))))
        #expect(try act("GET", path + "?after=17&limit=5") == .mailbox(.list(user, MailPage(after: 17, limit: 5))))
        #expect(try act("DELETE", path) == .mailbox(.empty(user)))
        #expect(try act("DELETE", path + "/17") == .mailbox(.recall(user, version: 17)))
        for (method, target, field) in [
            ("GET", "?after=-1", "after"), ("GET", "?after=9007199254740992", "after"), ("GET", "?limit=0", "limit"),
            ("GET", "?limit=1001", "limit"), ("GET", "?x=1", "x"), ("DELETE", "?after=1", "after"),
            ("DELETE", "/0", "version"), ("DELETE", "/x", "version"), ("DELETE", "/9007199254740992", "version"),
        ] {
            let found = problem(method, path + target)
            #expect(found?.code == .invalidArgument && found?.field == field && found?.bound != nil, "\(target)")
        }
    }

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

    @Test func conflictsHaveCodesOfTheirOwn() {
        for (reason, code) in [
            (SignalingReason.valueDiffers, APIErrorCode.valueDiffers), (.reinvite, .callPending),
            (.wrongState, .conflict),
        ] {
            let problem = APIProblem(SignalingError(.failed, reason, "why"))
            #expect(problem.code == code && code.status == 409 && !code.isPassing)
        }
    }

    @Test func unknownPathsAndMethods() {
        #expect(problem("GET", "/v1/nothing")?.code == .notFound)
        #expect(problem("GET", "v1/key")?.code == .notFound)
        #expect(problem("GET", "/v1/key/")?.code == .notFound)
        #expect(problem("DELETE", "/v1/key")?.allowed == ["GET"])
        #expect(problem("GET", "/v1/apps/a/messages")?.code == .methodNotAllowed)
    }

    @Test(arguments: [
        ("calls", ["GET", "POST"]), ("users/u/ban", ["GET", "PUT", "DELETE"]),
        ("users/u/attributes/n", ["GET", "PUT", "DELETE"]), ("channels/c/messages", ["POST", "GET"]),
        ("channels/c/attributes/n", ["GET", "PUT", "DELETE"]), ("users/u/tokens", ["POST"]),
        ("users/u/mailbox", ["GET", "DELETE"]), ("users/u/mailbox/1", ["DELETE"]), ("presence", ["POST"]),
    ])
    func allowedMethods(_ path: String, _ methods: [String]) {
        let found = problem("PATCH", "/v1/apps/a/\(path)")
        #expect(found?.code == .methodNotAllowed)
        #expect(found?.allowed == methods)
    }

    @Test func boundsOfBodies() {
        let large = APIOperation.all.filter { $0.bodyBound == APIOperation.largestBody }
        #expect(large.map(\.id) == ["sendMessages", "broadcast", "queryPresence"])
        #expect(APIOperation.all.allSatisfy { $0.bodyBound == APIOperation.usualBody || large.contains($0) })
    }

    @Test func queries() throws {
        let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("c d"))
        #expect(
            try act("GET", "/v1/apps/a/channels/c%20d/members?limit=7") == .channels(.listMembers(channel, limit: 7)))
        #expect(try act("GET", "/v1/apps/a/channels/c%20d/members") == .channels(.listMembers(channel, limit: 100)))
        for query in ["limit=-1", "limit=10001", "limit=x", "limit=", "limit=1&limit=2", "limits=1"] {
            #expect(problem("GET", "/v1/apps/a/channels/c/members?\(query)")?.code == .invalidArgument, "\(query)")
        }
        #expect(problem("GET", "/v1/key?x=1")?.field == "x")
    }

    @Test func lists() throws {
        let app = try AppID("a")
        func list(_ list: ListRecords.List, prefix: String = "", after: String = "", limit: Int = 100) -> APIAct {
            .lists(.page(ListRecords(list, app: app, prefix: prefix, after: after, limit: limit)))
        }
        #expect(
            try act("GET", "/v1/apps?limit=1000&after=b") == .lists(.page(ListRecords(.apps, after: "b", limit: 1000))))
        #expect(try act("GET", "/v1/apps/a/users") == list(.online))
        #expect(try act("GET", "/v1/apps/a/users?state=all&prefix=%C3%BC") == list(.users, prefix: "ü"))
        #expect(try act("GET", "/v1/apps/a/channels?after=x+y&limit=1") == list(.channels, after: "x y", limit: 1))
        #expect(try act("GET", "/v1/apps/a/calls?after=17.c.1") == list(.calls, after: "17.c.1"))
        #expect(try act("GET", "/v1/apps/a/calls?state=open") == list(.open))
        #expect(
            try act("GET", "/v1/apps/a/usage?days=366") == .lists(.usage(ListRecords(.usage, app: app, limit: 366))))
        #expect(try act("GET", "/v1/processes") == .cluster(.listProcesses))
        #expect(try act("GET", "/v1/metrics") == .cluster(.getMetrics))
        var members = ListRecords(.members, app: app, limit: 100)
        members.channel = try ChannelName("c")
        #expect(try act("GET", "/v1/apps/a/channels/c/members?after=") == .lists(.page(members)))
    }

    @Test(arguments: [
        ("users?limit=0", "limit"), ("users?limit=1001", "limit"), ("users?state=offline", "state"),
        ("users?prefix=\(String(repeating: "x", count: 129))", "prefix"), ("users?prefix=%00", "prefix"),
        ("users?after=\(String(repeating: "x", count: 1025))", "after"), ("channels?after=%C2%85", "after"),
        ("channels?state=all", "state"), ("channels/c/members?after=&limit=1001", "limit"),
        ("channels/c/members?after=&limit=0", "limit"), ("calls?after=x", "after"), ("calls?after=-1.x", "after"),
        ("calls?after=253402300800000000.x", "after"), ("calls?state=ended", "state"), ("calls?prefix=x", "prefix"),
        ("usage?days=0", "days"), ("usage?days=367", "days"),
    ])
    func listsOutOfRange(_ target: String, _ field: String) {
        let found = problem("GET", "/v1/apps/a/\(target)")
        #expect(found?.code == .invalidArgument)
        #expect(found?.field == field)
        #expect(found?.bound?.isEmpty == false)
    }

    @Test func bans() throws {
        let user = UserKey(app: try AppID("a"), account: try Account("bob"))
        let path = "/v1/apps/a/users/bob/ban"
        #expect(
            try act("PUT", path, #"{"seconds": 60, "reason": "spam"}"#)
                == .users(.ban(user, until: .seconds(60), reason: "spam")))
        #expect(try act("PUT", path, #"{"until": 17}"#) == .users(.ban(user, until: .time(17), reason: "")))
        #expect(try act("GET", path) == .users(.getBan(user)))
        #expect(try act("DELETE", path) == .users(.liftBan(user)))
        let app = user.app
        #expect(try act("GET", "/v1/apps/a/bans?limit=9") == .lists(.page(ListRecords(.bans, app: app, limit: 9))))
        let long = String(repeating: "x", count: 513)
        for (body, field) in [
            ("{}", "seconds"), (#"{"seconds": 1, "until": 2}"#, "until"), (#"{"seconds": 0}"#, "seconds"),
            (#"{"seconds": 315360001}"#, "seconds"), (#"{"until": "1"}"#, "until"), (#"{"until": -1}"#, "until"),
            (#"{"seconds": 1, "reason": "\#(long)"}"#, "reason"), (#"{"seconds": 1, "reason": null}"#, "reason"),
            (#"{"seconds": 1, "reason": "\u0000"}"#, "reason"), (#"{"seconds": 1, "why": ""}"#, "why"),
        ] {
            let found = problem("PUT", path, body)
            #expect(found?.code == .invalidArgument && found?.field == field && found?.bound != nil, "\(body)")
        }
        #expect(try BanEnd.seconds(5).time(now: 10) == 15)
        #expect(try BanEnd.time(11).time(now: 10) == 11)
        for time in [10, 315_360_011] {
            #expect(throws: APIProblem.self) { try BanEnd.time(time).time(now: 10) }
        }
    }

    @Test func calls() throws {
        let (ann, bob) = (try Account("ann"), try Account("bob"))
        let user = UserKey(app: try AppID("a"), account: ann)
        let actor = Actor(user: user, uid: 0, session: .server)
        func invitation(to peer: String, _ extra: String = "") throws -> APIAct {
            .calls(
                .start(
                    CallAct(verb: .invite, actor: actor, channel: try ChannelName("c d"), peer: peer, extra: extra)))
        }
        let path = "/v1/apps/a/calls"
        #expect(
            try act("POST", path, #"{"from": "ann", "to": "bob", "channel": "c d"}"#)
                == invitation(to: bob.rawValue))
        #expect(
            try act("POST", path, #"{"from": "ann", "to": "+4930", "channel": "c d", "extra": "{\"a\":1}"}"#)
                == invitation(to: "+4930", #"{"a":1}"#))
        #expect(
            try act("DELETE", path + "/x.1?account=ann")
                == .calls(.act(FindCall(user: user, call: "x.1"), .end, extra: "")))
        #expect(
            try act("POST", path + "/x.1/digits", #"{"from": "ann", "digits": "1,#"}"#)
                == .calls(
                    .act(
                        FindCall(user: user, call: "x.1"), .message, extra: #"{"msgtype":"dtmf","msgdata":"1,#"}"#)))
    }

    @Test(arguments: [
        (#"{"to": "bob", "channel": "c"}"#, "from"), (#"{"from": "ann", "channel": "c"}"#, "to"),
        (#"{"from": "ann", "to": "ann", "channel": "c"}"#, "to"),
        (#"{"from": "ann", "to": "b b", "channel": "c"}"#, "to"),
        (#"{"from": "ann", "to": "bob"}"#, "channel"), (#"{"from": "ann", "to": "bob", "channel": ""}"#, "channel"),
        (#"{"from": "ann", "to": "bob", "channel": "c", "extra": {}}"#, "extra"),
        (#"{"from": "ann", "to": "bob", "channel": "c", "extra": "{"}"#, "extra"),
        (#"{"from": "ann", "to": "bob", "channel": "c", "timeout": 1}"#, "timeout"),
    ])
    func wrongCalls(_ body: String, _ field: String) {
        let found = problem("POST", "/v1/apps/a/calls", body)
        #expect(found?.code == .invalidArgument)
        #expect(found?.field == field)
        #expect(found?.bound?.isEmpty == false)
    }

    @Test func boundsOfCalls() {
        func extra(_ bytes: Int) -> String {
            let text = #"\""# + String(repeating: "x", count: bytes - 2) + #"\""#
            return #"{"from": "ann", "to": "bob", "channel": "c", "extra": "\#(text)"}"#
        }
        #expect(problem("POST", "/v1/apps/a/calls", extra(8192)) == nil)
        #expect(problem("POST", "/v1/apps/a/calls", extra(8193))?.field == "extra")
        func digits(_ text: String) -> APIProblem? {
            problem("POST", "/v1/apps/a/calls/x/digits", #"{"from": "ann", "digits": "\#(text)"}"#)
        }
        #expect(digits(String(repeating: "D", count: 128)) == nil)
        for text in ["", ",", "1a", "1 2", "٣", String(repeating: "1", count: 129)] {
            #expect(digits(text)?.field == "digits", "\(text)")
        }
        #expect(problem("DELETE", "/v1/apps/a/calls/x")?.field == "account")
        #expect(problem("DELETE", "/v1/apps/a/calls/x?account=")?.field == "account")
        #expect(problem("DELETE", "/v1/apps/a/calls/%20?account=ann")?.field == "call")
        #expect(problem("DELETE", "/v1/apps/a/calls/?account=ann")?.field == "call")
        let long = String(repeating: "x", count: 257)
        #expect(problem("DELETE", "/v1/apps/a/calls/\(long)?account=ann")?.field == "call")
    }

    @Test(arguments: [
        (SignalingReason.reinvite, APIErrorCode.callPending), (.wrongState, .conflict), (.unknownCall, .notFound),
        (.callEnded, .notFound), (.tooManyCalls, .tooManyCalls), (.tooManyNewCalls, .tooManyCalls),
        (.appCalls, .tooManyCalls), (.appNewCalls, .tooManyCalls), (.busy, .unavailable),
        (.mailboxFull, .mailboxFull),
    ])
    func whatTheInvitationServiceRefuses(_ reason: SignalingReason, _ code: APIErrorCode) {
        #expect(APIProblem(SignalingError(.inviteOther, reason, "no")).code == code)
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

    @Test func revocations() throws {
        let user = UserKey(app: try AppID("a"), account: try Account("bob"))
        let path = "/v1/apps/a/users/bob/tokens/revoke"
        #expect(try act("POST", path, #"{"ttl": 31536000}"#) == .users(.revokeTokens(user, .made(seconds: 31_536_000))))
        #expect(try act("POST", path, #"{"token": "1:a:9:d"}"#) == .users(.revokeTokens(user, .token("1:a:9:d"))))
        let long = String(repeating: "x", count: 257)
        for (body, field) in [
            ("{}", "token"), (#"{"ttl": 1, "token": "x"}"#, "ttl"), (#"{"ttl": 0}"#, "ttl"),
            (#"{"ttl": 31536001}"#, "ttl"), (#"{"token": ""}"#, "token"), (#"{"token": "\#(long)"}"#, "token"),
            (#"{"before": 1}"#, "before"),
        ] {
            #expect(problem("POST", path, body)?.field == field, "\(body)")
        }
    }

    @Test func messages() throws {
        let app = try AppID("a")
        let (bob, ann) = (try Account("bob"), try Account("ann"))
        let message = OutgoingMessage(app: app, sender: ann, receiver: .user(bob, seconds: 5), text: "hi")
        #expect(
            try act("POST", "/v1/apps/a/users/bob/messages", #"{"from": "ann", "message": "hi", "ttl": 5}"#)
                == .messages(.send(message)))
        let items =
            #"{"items": [{"user": "bob", "from": "ann", "message": "hi", "ttl": 5}, "#
            + #"{"channel": "c", "from": "ann", "message": ""}]}"#
        let toChannel = OutgoingMessage(
            app: app, sender: ann, receiver: .channel(try ChannelName("c")), text: "")
        #expect(try act("POST", "/v1/apps/a/messages", items) == .messages(.sendAll([message, toChannel])))
        let users = #"{"users": ["bob", "ann"], "from": "ann", "message": "hi", "ttl": 5}"#
        guard case .once(.messages(.sendAll(let all))) = try act("POST", "/v1/apps/a/broadcasts", users) else {
            Issue.record("no broadcast")
            return
        }
        #expect(all.count == 2 && all[0] == message)
    }

    @Test(arguments: [
        (#"{"from": "ann"}"#, "message"),
        (#"{"from": "a b", "message": "x"}"#, "from"),
        (#"{"message": "x"}"#, "from"),
        (#"{"from": "ann", "message": 5}"#, "message"),
        (#"{"from": "ann", "message": "x", "ttl": -1}"#, "ttl"),
        (#"{"from": "ann", "message": "x", "ttl": 2592001}"#, "ttl"),
        (#"{"from": "ann", "message": "x", "ttl": 1.5}"#, "ttl"),
        (#"{"from": "ann", "message": "x", "tll": 1}"#, "tll"),
        (#"{"from": "ann", "message": "x", "message": "y"}"#, "message"),
    ])
    func wrongMembersAreNamed(_ body: String, _ field: String) {
        let found = problem("POST", "/v1/apps/a/users/bob/messages", body)
        #expect(found?.code == .invalidArgument)
        #expect(found?.field == field)
        #expect(found?.bound?.isEmpty == false)
    }

    @Test func bounds() {
        func message(_ bytes: Int) -> String {
            #"{"from": "ann", "message": ""# + String(repeating: "x", count: bytes) + #""}"#
        }
        #expect(problem("POST", "/v1/apps/a/users/bob/messages", message(8192)) == nil)
        #expect(problem("POST", "/v1/apps/a/users/bob/messages", message(8193))?.field == "message")
        func users(_ count: Int) -> String {
            let names = (0..<count).map { #""u\#($0)""# }.joined(separator: ",")
            return #"{"from": "ann", "message": "", "users": [\#(names)]}"#
        }
        #expect(problem("POST", "/v1/apps/a/broadcasts", users(1000)) == nil)
        #expect(problem("POST", "/v1/apps/a/broadcasts", users(1001))?.field == "users")
        #expect(problem("POST", "/v1/apps/a/broadcasts", users(0))?.field == "users")
        let both = #"{"items": [{"user": "u", "channel": "c", "from": "a", "message": ""}]}"#
        #expect(problem("POST", "/v1/apps/a/messages", both)?.field == "items[0]")
        let wrong = #"{"items": [{"user": "u", "from": "a", "message": ""}, {"user": "", "from": "a", "message": ""}]}"#
        #expect(problem("POST", "/v1/apps/a/messages", wrong)?.field == "items[1].user")
        #expect(problem("POST", "/v1/apps/a/messages", "[]")?.code == .malformed)
        let waits = #"{"items": [{"channel": "c", "from": "a", "message": "", "ttl": 1}]}"#
        #expect(problem("POST", "/v1/apps/a/messages", waits)?.field == "items[0].ttl")
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

    @Test func idempotencyKeys() throws {
        let first = try IdempotentRequest("k", key: "id", request: "POST /a\n{}")
        #expect(try IdempotentRequest("k", key: "id", request: "POST /a\n{}") == first)
        #expect(try IdempotentRequest("k", key: "id", request: "POST /a\n{ }").digest != first.digest)
        #expect(first.command(0) != first.command(1))
        #expect(try IdempotentRequest("l", key: "id", request: "POST /a\n{}").command(0) != first.command(0))
        #expect(throws: APIProblem.self) { try IdempotentRequest("", key: "id", request: "") }
        #expect(throws: APIProblem.self) { try IdempotentRequest("a b", key: "id", request: "") }
        #expect(throws: APIProblem.self) {
            try IdempotentRequest(String(repeating: "k", count: 129), key: "id", request: "")
        }
    }
}
