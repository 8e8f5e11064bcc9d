import BusProtocol
import SignalingProtocol
import Testing

@testable import Provisioning

@Suite struct DesiredStateTests {
    static func read(_ text: String) throws(SettingProblem) -> DesiredState {
        try read(
            text,
            .references { reference throws(SettingProblem) in
                switch reference {
                case .variable("SET"): "0123456789abcdef"
                case .file("/short"): "short"
                default: throw SettingProblem("", "names no secret")
                }
            })
    }

    static func read(_ text: String, _ secrets: SecretSource) throws(SettingProblem) -> DesiredState {
        try DesiredState(Array(text.utf8), secrets: secrets)
    }

    private static func problem(_ text: String, _ secrets: SecretSource? = nil) -> String? {
        do throws(SettingProblem) {
            _ = if let secrets { try read(text, secrets) } else { try read(text) }
            return nil
        } catch {
            return error.text
        }
    }

    @Test func everythingOfAnApp() throws {
        let state = try Self.read(
            """
            {"version": 1, "apps": {"a": {
                "tokenRequired": false, "certificate": {"env": "SET"},
                "limits": {"messagesPerSecond": 100, "specialChannels": "closed", "messageEvents": "with-text"},
                "webhook": {"url": "https://a/", "kinds": ["online", "message"], "messageText": true, "batch": 5,
                    "allowPrivate": true, "allowLoopback": false, "secret": {"env": "SET"}},
                "hook": {"remove": true},
                "trunk": {"host": "sip.a", "port": null, "allow": ["+49"], "callerId": null, "user": null},
                "numbers": {"+49": "anna", "+43": {"remove": true}}}}}
            """)
        let app = try #require(state.apps.first)
        #expect(app.app.tokenRequired == false && app.app.certificate == "0123456789abcdef")
        #expect(app.app.limits == ["messagesPerSecond": 100] && app.app.specialChannels == .closed)
        #expect(app.app.messageEvents == .withText)
        guard case .set(let webhook)? = app.webhooks.first?.webhook, case .set(let trunk) = app.trunk else {
            Issue.record("the webhook or the trunk is missing")
            return
        }
        #expect(webhook.kinds == [.online, .message] && webhook.secret == "0123456789abcdef" && webhook.batch == 5)
        #expect(app.hook == .removed)
        #expect(trunk.port == .none && trunk.policy.allow == .value(["+49"]) && trunk.user == .none)
        #expect(trunk.fromDomain == .unsaid)
        #expect(app.numbers.map(\.number) == ["+49", "+43"] && app.numbers[1].user == .removed)
    }

    @Test(arguments: [
        ("{", "the file must be JSON: "), ("[]", "the file must be an object; it is []"),
        (#"{"version": 2}"#, "version must be 1; it is 2"),
        (#"{"app": {}}"#, "app is unknown: there are version, apps"),
        (#"{"apps": {"a b": {}}}"#, #"apps["a b"] must be the name of an app: "#),
        (#"{"apps": {"a": {}, "a": {}}}"#, "apps.a is there twice"),
        (#"{"apps": {"a": {"remove": true}}}"#, "apps.a cannot be removed by a file"),
        (#"{"apps": {"a": {"limit": 1}}}"#, "apps.a.limit is unknown: there are tokenRequired, "),
        (
            #"{"apps": {"a": {"limits": {"messagesPerSecond": 0}}}}"#,
            "apps.a.limits.messagesPerSecond must be 1...1000000; it is 0"
        ),
        (
            #"{"apps": {"a": {"limits": {"messagesPerSecond": "6"}}}}"#,
            #"apps.a.limits.messagesPerSecond must be a whole number; it is "6""#
        ),
        (
            #"{"apps": {"a": {"limits": {"mailboxBytes": 1073741825}}}}"#,
            "apps.a.limits.mailboxBytes must be 65536...1073741824; it is 1073741825"
        ),
        (
            #"{"apps": {"a": {"limits": {"specialChannels": "no"}}}}"#,
            #"apps.a.limits.specialChannels must be open, closed; it is "no""#
        ),
        (
            #"{"apps": {"a": {"limits": {"messageEvents": "all"}}}}"#,
            #"apps.a.limits.messageEvents must be none, without-text, with-text; it is "all""#
        ),
        (#"{"apps": {"a": {"webhook": {"batch": 1001}}}}"#, "apps.a.webhook.batch must be 1...1000; it is 1001"),
        (#"{"apps": {"a": {"webhook": {"url": "ftp://a/"}}}}"#, "apps.a.webhook.url must be an http or https URL"),
        (#"{"apps": {"a": {"webhook": {"kinds": []}}}}"#, "apps.a.webhook.kinds must have one word at least"),
        (#"{"apps": {"a": {"webhook": {"kinds": ["x"]}}}}"#, "apps.a.webhook.kinds[0] must be online, "),
        (
            #"{"apps": {"a": {"webhook": {"kinds": ["join"], "messageText": true}}}}"#,
            "apps.a.webhook.messageText needs message among the kinds"
        ),
        (#"{"apps": {"a": {"webhooks": {"default": {}}}}}"#, "apps.a.webhooks.default is written as webhook"),
        (
            #"{"apps": {"a": {"webhooks": {"A b": {}}}}}"#,
            #"apps.a.webhooks["A b"] must be a name of 1 to 32 characters a-z, 0-9 and -, the first one a letter"#
        ),
        (
            #"{"apps": {"a": {"webhooks": {"archive": {"batch": 0}}}}}"#,
            "apps.a.webhooks.archive.batch must be 1...1000; it is 0"
        ),
        (#"{"apps": {"a": {"webhook": {"remove": false}}}}"#, #"apps.a.webhook must be {"remove":true} alone"#),
        (#"{"apps": {"a": {"webhook": {"remove": true, "batch": 1}}}}"#, #"apps.a.webhook must be {"remove":true}"#),
        (#"{"apps": {"a": {"hook": {"deadline": 49}}}}"#, "apps.a.hook.deadline must be 50...5000; it is 49"),
        (#"{"apps": {"a": {"hook": {"requests": 1001}}}}"#, "apps.a.hook.requests must be 1...1000; it is 1001"),
        (#"{"apps": {"a": {"hook": {"failOpen": 1}}}}"#, "apps.a.hook.failOpen must be true or false; it is 1"),
        (#"{"apps": {"a": {"trunk": {"port": 65536}}}}"#, "apps.a.trunk.port must be 1...65535; it is 65536"),
        (#"{"apps": {"a": {"trunk": {"ringSeconds": 3601}}}}"#, "apps.a.trunk.ringSeconds must be 1...3600"),
        (#"{"apps": {"a": {"trunk": {"host": "a b"}}}}"#, "apps.a.trunk.host must have 1 to 253 letters"),
        (#"{"apps": {"a": {"trunk": {"allow": ["any", "+49"]}}}}"#, "apps.a.trunk.allow must have any and none alone"),
        (#"{"apps": {"a": {"trunk": {"userCalls": 10001}}}}"#, "apps.a.trunk.userCalls must be 0...10000"),
        (#"{"apps": {"a": {"trunk": {"longestCall": 43201}}}}"#, "apps.a.trunk.longestCall must be 1...43200"),
        (#"{"apps": {"a": {"numbers": {"a b": "anna"}}}}"#, #"apps.a.numbers["a b"] must be a number"#),
        (#"{"apps": {"a": {"numbers": {"+1": ".."}}}}"#, "apps.a.numbers.+1 must be an account that can log in"),
        (
            #"{"apps": {"a": {"numbers": {"1": "x"}}, "b": {"numbers": {"1": "x"}}}}"#,
            "apps.b.numbers has 1, which apps.a has too"
        ),
    ])
    func whatIsWrong(text: String, wanted: String) {
        #expect(Self.problem(text)?.hasPrefix(wanted) == true, "\(Self.problem(text) ?? "nothing")")
    }

    @Test(arguments: [
        (#""a-secret-in-clear""#, "secret must be {"), (#"{"env": "SET", "file": "x"}"#, "secret must be {"),
        (#"{"env": ""}"#, "secret must be {"), (#"{"env": "UNSET"}"#, "secret.env names no secret"),
        (#"{"file": "/short"}"#, "secret must have 16...128 bytes; it is one of 5 bytes"),
        (#"{"word": "a-secret-in-clear"}"#, "secret.word is unknown"),
    ])
    func secretsAreNeitherTakenInClearNorShown(value: String, wanted: String) {
        let found = Self.problem(#"{"apps": {"a": {"webhook": {"secret": \#(value)}}}}"#)
        #expect(found?.hasPrefix("apps.a.webhook.\(wanted)") == true, "\(found ?? "nothing")")
        #expect(found?.contains("a-secret-in-clear") == false)
    }

    @Test(arguments: [
        #"{"env": "HOME"}"#, #"{"file": "/etc/passwd"}"#, #""a-secret-in-clear""#, "5", "null", "{}",
        #"{"value": ""}"#, #"{"value": 5}"#, #"{"value": {"value": "a-secret-in-clear"}}"#,
        #"{"value": "a-secret-in-clear\u0000"}"#, #"{"value": "a-secret-in-clear", "env": "HOME"}"#,
        #"{"value": "a-secret-in-clear", "value": "a-secret-in-clear"}"#, #"{"a-secret-in-clear": 1}"#,
    ])
    func requestsGiveSecretsInClear(value: String) {
        let settings = #"{"apps": {"a": {"certificate": {"value": "c"}, "webhook": {"secret": \#(value)}}}}"#
        let found = Self.problem(settings, .values)
        let rule = #"apps.a.webhook.secret must be {"value": "SECRET"}"#
        #expect(found?.hasPrefix(rule) == true, "\(found ?? "nothing")")
        #expect(found?.contains("a-secret-in-clear") == false && found?.contains("HOME") == false)
    }

    @Test func secretsOfRequestsAreKeptAndChecked() throws {
        let app = try #require(
            try Self.read(
                #"{"apps": {"a": {"certificate": {"value": "c"}, "trunk": {"secret": {"value": "s"}}}}}"#, .values
            ).apps.first)
        #expect(app.app.certificate == "c")
        guard case .set(let trunk) = app.trunk else {
            Issue.record("the trunk is missing")
            return
        }
        #expect(trunk.secret == "s")
        #expect(
            Self.problem(#"{"apps": {"a": {"hook": {"secret": {"value": "short"}}}}}"#, .values)
                == "apps.a.hook.secret must have 16...128 bytes; it is one of 5 bytes")
        // In files they are refused as ever, without being shown.
        let inFile = Self.problem(#"{"apps": {"a": {"certificate": {"value": "a-secret-in-clear"}}}}"#)
        #expect(inFile == "apps.a.certificate.value is unknown: there are env, file")
    }

    @Test(arguments: [
        (#""limits": {"value": "a-secret"}"#, "limits.value is unknown"),
        (#""tokenRequired": {"value": "a-secret"}"#, "tokenRequired must be true or false; it is an object"),
        (#""webhook": {"url": {"value": "a-secret"}}"#, "webhook.url must be a string; it is an object"),
        (#""webhook": ["a-secret"]"#, "webhook must be an object; it is a list of 1"),
    ])
    func secretsAtWrongPlacesAreNotShown(member: String, wanted: String) {
        let found = Self.problem(#"{"apps": {"a": {\#(member)}}}"#, .values)
        #expect(found?.hasPrefix("apps.a.\(wanted)") == true && found?.contains("a-secret") == false, "\(found ?? "")")
    }

    @Test func bounds() {
        func apps(_ count: Int) -> String {
            #"{"apps": {"# + (0..<count).map { "\"a\($0)\": {}" }.joined(separator: ",") + "}}"
        }
        #expect(Self.problem(apps(DesiredState.mostApps)) == nil)
        #expect(
            Self.problem(apps(DesiredState.mostApps + 1)) == "apps must have at most 1000 apps; it is an object of 1001"
        )
        func numbers(_ count: Int) -> String {
            #"{"apps": {"a": {"numbers": {"# + (0..<count).map { "\"\($0)\":\"x\"" }.joined(separator: ",") + "}}}}"
        }
        #expect(Self.problem(numbers(DesiredState.mostNumbers)) == nil)
        #expect(Self.problem(numbers(DesiredState.mostNumbers + 1)) == "the file must have at most 10000 numbers")
        let longest = String(repeating: " ", count: DesiredState.longestFile - 2) + "{}"
        #expect(Self.problem(longest) == nil)
        #expect(Self.problem(" " + longest) == "the file must have at most 4194304 bytes")
        func allowed(_ count: Int) -> String {
            let list = Array(repeating: "\"+49\"", count: count).joined(separator: ",")
            return #"{"apps": {"a": {"trunk": {"allow": [\#(list)]}}}}"#
        }
        #expect(Self.problem(allowed(200)) == nil)
        #expect(Self.problem(allowed(201))?.contains("at most 200 entries; it is a list of 201") == true)
    }
}
