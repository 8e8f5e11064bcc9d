import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

@Suite struct APIRequestTests {
    func act(_ method: String, _ target: String, _ body: String? = nil) throws -> APIAct {
        let body = try body.map { try JSONValue.parse($0.utf8) }
        return try APIRequest(method: method, target: target).act(body: body)
    }

    func problem(_ method: String, _ target: String, _ body: String? = nil) -> APIProblem? {
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

    @Test func conflictsHaveCodesOfTheirOwn() {
        for (reason, code) in [
            (SignalingReason.valueDiffers, APIErrorCode.valueDiffers), (.reinvite, .callPending),
            (.wrongState, .wrongCallState),
        ] {
            let problem = APIProblem(SignalingError(.failed, reason, "why"))
            #expect(problem.code == code && code.status == 409 && !code.isPassing)
        }
        // Nothing was changed: a repetition is carried out.
        let changing = APIProblem(SignalingError(.failed, .settingsChanged, "why"))
        #expect(changing.code == .settingsChanging && changing.code.status == 409 && changing.code.isPassing)
        #expect(changing.retryAfter == 1)
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
        #expect(large.map(\.id) == ["sendMessages", "broadcast", "queryPresence", "applySettings"])
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
            try act("GET", "/v1/apps/a/usage?days=366") == .lists(.record(ListRecords(.usage, app: app, limit: 366))))
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
        (SignalingReason.reinvite, APIErrorCode.callPending), (.wrongState, .wrongCallState),
        (.unknownCall, .notFound),
        (.callEnded, .notFound), (.tooManyCalls, .tooManyCalls), (.tooManyNewCalls, .tooManyCalls),
        (.appCalls, .tooManyCalls), (.appNewCalls, .tooManyCalls), (.busy, .unavailable),
        (.mailboxFull, .mailboxFull),
    ])
    func whatTheInvitationServiceRefuses(_ reason: SignalingReason, _ code: APIErrorCode) {
        #expect(APIProblem(SignalingError(.inviteOther, reason, "no")).code == code)
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
