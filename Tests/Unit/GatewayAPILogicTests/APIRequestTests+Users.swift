import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

/// What is asked about users, and done to them.
extension APIRequestTests {
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
}
