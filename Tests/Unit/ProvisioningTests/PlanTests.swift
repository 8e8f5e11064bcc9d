import BusProtocol
import PostgresStore
import SignalingProtocol
import SignalingWire
import Testing

@testable import Provisioning

@Suite struct PlanTests {
    private static var id: AppID {
        guard let id = try? AppID("a") else { preconditionFailure("an app's id") }
        return id
    }

    private static func plan(_ text: String, over actual: ActualState) throws(SettingProblem) -> Plan {
        try Plan(try DesiredStateTests.read(text), over: actual) { "random-\($0)" }
    }

    private static func problem(_ text: String, over actual: ActualState) -> String? {
        do throws(SettingProblem) {
            _ = try plan(text, over: actual)
            return nil
        } catch {
            return error.text
        }
    }

    private static let none = ActualState(apps: [:], numbers: [:])

    /// The app `a` with everything, and the app `b` with a number.
    private static func full() throws -> ActualState {
        var app = ActualApp(record: AppRecord(id: id, certificate: "c", tokenRequired: true, createdAt: 0))
        let url = try #require(WebhookURL("https://a/?key=1"))
        app.webhooks[.standard] = Webhook(WebhookKey(app: id), url: url, secret: "0123456789abcdef")
        app.hook = BeforeHook(url: url, secret: "0123456789abcdef", points: HookPoints([.send]))
        var trunk = SIPTrunk(app: id, host: "sip.a", port: 5070)
        trunk.authUser = "u"
        trunk.secret = "s"
        trunk.fromDomain = "a.example"
        trunk.register = true
        trunk.policy.callees = .listed(["+49"])
        app.trunk = trunk
        let other = ActualApp(
            record: AppRecord(id: try AppID("b"), certificate: "c", tokenRequired: false, createdAt: 0))
        return ActualState(
            apps: [id: app, other.record.id: other],
            numbers: [
                "+49": UserKey(app: id, account: try Account("anna")),
                "+43": UserKey(app: other.record.id, account: try Account("bert")),
            ])
    }

    @Test func aNewApp() throws {
        let plan = try Self.plan(
            #"{"apps": {"a": {"limits": {"messagesPerSecond": 100}, "hook": {"url": "https://a/"}}}}"#, over: Self.none)
        #expect(
            plan.changes.map(\.line).prefix(5) == [
                "app a: added", "app a: tokenRequired none -> true", "app a: limit messagesPerSecond 60 -> 100",
                "app a: hook added", "app a: hook url none -> https://a/",
            ])
        var limits = AppLimits()
        limits.messagesPerSecond = 100
        #expect(plan.acts[0] == .create(Self.id, certificate: "random-16", tokenRequired: true, limits: limits))
        guard case .setHook(let hook, Self.id) = plan.acts[1] else {
            Issue.record("\(plan.acts)")
            return
        }
        #expect(hook.secret == "random-32" && hook.points.points == HookPoint.allCases)
    }

    @Test func whatIsSoAlreadyChangesNothing() throws {
        let full = try Self.full()
        let plan = try Self.plan(ExportFile.text(full), over: full)
        #expect(plan.changes.isEmpty && plan.acts.isEmpty)
        #expect(try Self.plan(#"{"apps": {"a": {"trunk": {}, "hook": {}, "webhook": {}}}}"#, over: full).acts.isEmpty)
    }

    @Test func anExportHasNoSecrets() throws {
        let text = ExportFile.text(try Self.full())
        #expect(!text.contains("0123456789abcdef") && !text.contains("\"s\"") && !text.contains("secret"))
        #expect(ExportFile.text(try Self.full(), app: try AppID("b")).contains("\"+43\": \"bert\""))
        #expect(!ExportFile.text(try Self.full(), app: try AppID("b")).contains("sip.a"))
    }

    @Test func whatIsNamedChangesAndTheRestStays() throws {
        let plan = try Self.plan(
            """
            {"apps": {"a": {"tokenRequired": false, "limits": {"actsPerSecond": 7, "specialChannels": "closed",
                    "messageEvents": "without-text"},
                "certificate": {"env": "SET"},
                "webhook": {"url": "https://a/?key=2", "kinds": ["message"], "messageText": true},
                "hook": {"on": ["login", "join"], "secret": {"env": "SET"}},
                "trunk": {"fromDomain": null, "allow": ["any"], "port": null}, "numbers": {"+49": "carl"}}}}
            """, over: try Self.full())
        #expect(
            plan.changes.map(\.line) == [
                "app a: tokenRequired true -> false", "app a: certificate replaced",
                "app a: limit actsPerSecond 50 -> 7", "app a: limit specialChannels open -> closed",
                "app a: limit messageEvents none -> without-text",
                "app a: webhook url https://a/?... -> https://a/?...",
                "app a: webhook kinds online,offline,join,leave,channel_created,channel_destroyed,call -> message",
                "app a: webhook messageText false -> true", "app a: hook on send -> login,join",
                "app a: trunk port 5070 -> 5060", "app a: trunk fromDomain a.example -> none",
                "app a: trunk allow +49 -> any", "app a: number +49 anna -> carl",
            ])
        guard case .setTrunk(let trunk) = plan.acts[5] else {
            Issue.record("\(plan.acts)")
            return
        }
        #expect(trunk.authUser == "u" && trunk.secret == "s" && trunk.register && trunk.host == "sip.a")
    }

    @Test func whatIsRemovedOnce() throws {
        let text = """
            {"apps": {"a": {"webhook": {"remove": true}, "hook": {"remove": true}, "trunk": {"remove": true},
                "numbers": {"+49": {"remove": true}, "+43": {"remove": true}, "+1": {"remove": true}}}}}
            """
        var full = try Self.full()
        let plan = try Self.plan(text, over: full)
        #expect(
            plan.changes.map(\.line).sorted() == [
                "app a: hook removed", "app a: number +49 removed", "app a: trunk removed", "app a: webhook removed",
            ])
        #expect(
            plan.acts == [
                .removeNumber("+49"), .removeWebhook(WebhookKey(app: Self.id)), .removeHook(Self.id),
                .removeTrunk(Self.id),
            ])
        full.apps[Self.id] = ActualApp(record: try #require(full.apps[Self.id]).record)
        full.numbers["+49"] = nil
        #expect(try Self.plan(text, over: full).acts.isEmpty)
    }

    @Test func aNumberMovesToAnotherApp() throws {
        let moved = #"{"apps": {"a": {"numbers": {"+43": "anna"}}, "b": {"numbers": {"+43": {"remove": true}}}}}"#
        let plan = try Self.plan(moved, over: try Self.full())
        let anna = UserKey(app: Self.id, account: try Account("anna"))
        #expect(plan.acts == [.removeNumber("+43"), .setNumber("+43", anna)])
        #expect(
            Self.problem(#"{"apps": {"a": {"numbers": {"+43": "anna"}}}}"#, over: try Self.full())
                == "apps.a.numbers has +43, which belongs to the app b")
    }

    @Test(arguments: [
        (#""webhook": {"batch": 5}"#, "webhook.url is needed for a new webhook"),
        (#""hook": {"deadline": 60}"#, "hook.url is needed for a new before-hook"),
        (#""trunk": {"register": true}"#, "trunk.host is needed for a new trunk"),
        (#""trunk": {"host": "x", "register": true}"#, "trunk.register needs the user and the secret"),
        (#""trunk": {"host": "x", "acceptDigest": true}"#, "trunk.acceptDigest needs the user and the secret"),
        (#""trunk": {"host": "x", "user": "u"}"#, "trunk.user needs the secret too"),
        (#""trunk": {"host": "x", "secret": {"env": "SET"}}"#, "trunk.secret needs the user too"),
        (#""tokenRequired": false, "trunk": {"host": "x"}"#, "trunk.allow is needed, because the app takes logins"),
    ])
    func whatDoesNotGoTogether(text: String, wanted: String) {
        let found = Self.problem(#"{"apps": {"a": {\#(text)}}}"#, over: Self.none)
        #expect(found?.hasPrefix("apps.a.\(wanted)") == true, "\(found ?? "nothing")")
    }

    @Test func webhooksByName() throws {
        let text = """
            {"apps": {"a": {"webhook": {"batch": 7}, "webhooks": {
                "archive": {"url": "https://archive/", "kinds": ["message"]}, "old": {"remove": true}}}}}
            """
        var full = try Self.full()
        let old = WebhookKey(app: Self.id, name: try #require(WebhookName("old")))
        let url = try #require(WebhookURL("https://old/"))
        full.apps[Self.id]?.webhooks[old.name] = Webhook(old, url: url, secret: "0123456789abcdef")
        let plan = try Self.plan(text, over: full)
        let lines = plan.changes.map(\.line)
        #expect(
            lines.prefix(3) == [
                "app a: webhook batch 100 -> 7", "app a: webhook archive added",
                "app a: webhook archive.url none -> https://archive/",
            ])
        #expect(lines.contains("app a: webhook archive.kinds none -> message"))
        #expect(lines.last == "app a: webhook old removed")
        guard plan.acts.count == 3, case .setWebhook(let archive) = plan.acts[1] else {
            Issue.record("\(plan.acts)")
            return
        }
        #expect(archive.key.description == "a/archive" && archive.secret == "random-32")
        #expect(plan.acts[2] == .removeWebhook(old))
        full.apps[Self.id]?.webhooks[old.name] = nil
        #expect(
            Self.problem(#"{"apps": {"a": {"webhooks": {"archive": {"batch": 5}}}}}"#, over: full)
                == "apps.a.webhooks.archive.url is needed for a new webhook")
    }

    @Test func asManyWebhooksAsAnAppMayHave() throws {
        let hooks = (1...15).map { #""h\#($0)": {"url": "https://a/"}"# }.joined(separator: ", ")
        let fifteen = #"{"apps": {"a": {"webhooks": {\#(hooks)}}}}"#
        #expect(try Self.plan(fifteen, over: try Self.full()).acts.count == 15)
        let sixteen = #"{"apps": {"a": {"webhooks": {\#(hooks), "more": {"url": "https://a/"}}}}}"#
        #expect(
            Self.problem(sixteen, over: try Self.full())
                == "apps.a.webhooks must leave the app at most 16 webhooks; it is 17")
        // One that goes makes room.
        let moved =
            #"{"apps": {"a": {"webhook": {"remove": true}, "webhooks": {\#(hooks), "x": {"url": "https://a/"}}}}}"#
        #expect(try Self.plan(moved, over: try Self.full()).acts.count == 17)
    }

    @Test func namedWebhooksAreExported() throws {
        var full = try Self.full()
        let key = WebhookKey(app: Self.id, name: try #require(WebhookName("archive")))
        full.apps[Self.id]?.webhooks[key.name] = Webhook(
            key, url: try #require(WebhookURL("https://archive/")), secret: "0123456789abcdef")
        let text = ExportFile.text(full)
        let app = try #require(try JSONValue.parse(text.utf8)["apps"]?["a"])
        #expect(app["webhook"]?["url"]?.string == "https://a/?key=1")
        #expect(app["webhooks"]?["archive"]?["url"]?.string == "https://archive/")
        #expect(app["webhooks"]?["default"] == nil && !text.contains("0123456789abcdef"))
        #expect(try Self.plan(text, over: full).acts.isEmpty)
    }

    @Test func textsOfMessagesNeedTheKind() throws {
        let text = #"{"apps": {"a": {"webhook": {"messageText": true}}}}"#
        #expect(
            Self.problem(text, over: try Self.full()) == "apps.a.webhook.messageText needs message among the kinds")
    }
}
