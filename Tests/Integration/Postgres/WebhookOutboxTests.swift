import BusProtocol
import Logging
import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// What is queued for webhooks while nobody delivers it.
@Suite struct WebhookOutboxTests {
    private static let backlog = 10

    private let pool: PostgresPool
    private let outbox: WebhookOutbox

    init() async throws {
        pool = try await PostgresServer.shared.migratedPool(connections: 1)
        outbox = WebhookOutbox(
            pool: pool, backlog: Self.backlog, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func addApp(_ app: String) async throws -> AppID {
        let id = try AppID(app)
        try await pool.query("INSERT INTO apps (id, certificate, token_required) VALUES ($1, '', false)", [.text(app)])
        let url = try #require(WebhookURL("https://example.com/"))
        let webhook = Webhook(WebhookKey(app: id), url: url, secret: "whsec-0123456789abcdef")
        #expect(try await WebhookStore(pool: pool).set(webhook))
        return id
    }

    /// Events of an app that happened in these microseconds.
    private func events(of app: AppID, _ times: Range<Int64>) throws -> [WebhookEvent] {
        let room = WebhookEvent.Subject.channel(try ChannelName("room"))
        return times.map { WebhookEvent(.channelCreated, in: app, at: $0, room) }
    }

    /// When the app's events happened that wait.
    private func waiting(_ app: AppID) async throws -> [Int64] {
        let rows = try await pool.query(
            "SELECT at FROM webhook_events WHERE app = $1 ORDER BY at", [.text(app.rawValue)])
        return try rows.map { try $0.int64("at") }
    }

    @Test func moreThanTwiceTheBacklogIsNotQueued() async throws {
        let (full, other) = (try await addApp("full"), try await addApp("other"))
        let start = ContinuousClock.now
        try await outbox.add(try events(of: full, 0..<15), now: start)
        try await outbox.add(try events(of: full, 15..<35) + events(of: other, 0..<5), now: start)
        #expect(try await waiting(full) == Array(0..<20))
        #expect(try await waiting(other) == Array(0..<5))
        try await outbox.add(try events(of: full, 35..<36), now: start + .milliseconds(900))
        #expect(try await waiting(full).count == 20)
    }

    @Test func whatWasDeliveredMakesRoom() async throws {
        let app = try await addApp("a")
        let start = ContinuousClock.now
        try await outbox.add(try events(of: app, 0..<20), now: start)
        try await pool.query("DELETE FROM webhook_events WHERE at < 5")
        try await outbox.add(try events(of: app, 20..<26), now: start)
        #expect(try await waiting(app) == Array(5..<25))
        // That nothing was delivered is remembered for a second.
        try await outbox.add(try events(of: app, 26..<27), now: start)
        try await pool.query("DELETE FROM webhook_events WHERE at < 10")
        try await outbox.add(try events(of: app, 27..<28), now: start + .milliseconds(900))
        #expect(try await waiting(app) == Array(10..<25))
        try await outbox.add(try events(of: app, 28..<38), now: start + .seconds(1))
        #expect(try await waiting(app) == Array(10..<25) + Array(28..<33))
    }

    @Test func messagesAreQueuedAsTheWebhookSays() async throws {
        let app = try await addApp("a")
        let message = WebhookMessage(
            from: try Account("anna"), to: .channel(try ChannelName("room")), number: 1, size: 5, text: "hello")
        var webhook = Webhook(
            WebhookKey(app: app), url: try #require(WebhookURL("https://example.com/")),
            secret: "whsec-0123456789abcdef")
        let start = ContinuousClock.now
        // The kind is not among those that a webhook has without being asked; then without and with text.
        let wishes: [(kinds: Set<WebhookKind>, withText: Bool)] = [
            (WebhookKind.standard, true), ([.message], false), ([.message], true),
        ]
        for (second, (kinds, withText)) in wishes.enumerated() {
            (webhook.kinds, webhook.messageText) = (kinds, withText)
            #expect(try await WebhookStore(pool: pool).set(webhook))
            let event = MessageMirrorRow(message, in: app, sent: Int64(second)).webhookEvent
            try await outbox.add([event, event], now: start + .seconds(second))
        }
        let rows = try await pool.query("SELECT at, body FROM webhook_events WHERE app = 'a' ORDER BY at")
        #expect(try rows.map { try $0.int64("at") } == [1, 2])
        #expect(try rows.map { try $0.string("body").contains("hello") } == [false, true])
    }

    @Test func gatewaysLearnOfWebhooksThatTellOfMessages() async throws {
        let app = try await addApp("a")
        let apps = AppStore(pool: pool)
        #expect(try await apps.settings(of: app)?.webhookMessages == nil)
        var webhook = Webhook(
            WebhookKey(app: app), url: try #require(WebhookURL("https://example.com/")),
            secret: "whsec-0123456789abcdef")
        webhook.kinds = [.online, .message]
        for withText in [false, true] {
            webhook.messageText = withText
            #expect(try await WebhookStore(pool: pool).set(webhook))
            #expect(try await apps.settings(of: app)?.webhookMessages == (withText ? .withText : .withoutText))
            #expect(try await WebhookStore(pool: pool).list(app: app).first?.webhook == webhook)
        }
        #expect(try await WebhookStore(pool: pool).remove(WebhookKey(app: app)))
        #expect(try await apps.settings(of: app)?.webhookMessages == nil)
    }

    @Test func eachWebhookIsToldWhatItWants() async throws {
        let app = try await addApp("a")
        var archive = Webhook(
            WebhookKey(app: app, name: try #require(WebhookName("archive"))),
            url: try #require(WebhookURL("https://archive.example.com/")), secret: "whsec-0123456789abcdef")
        (archive.kinds, archive.messageText) = ([.message, .channelCreated], true)
        var push = archive
        push.key = WebhookKey(app: app, name: try #require(WebhookName("push")))
        (push.kinds, push.messageText) = ([.message], false)
        for webhook in [archive, push] { #expect(try await WebhookStore(pool: pool).set(webhook)) }
        let message = WebhookMessage(
            from: try Account("anna"), to: .channel(try ChannelName("room")), number: 1, size: 5, text: "hello")
        let told = MessageMirrorRow(message, in: app, sent: 1).webhookEvent
        try await outbox.add(try events(of: app, 0..<1) + [told])
        let rows = try await pool.query("SELECT webhook, kind, body FROM webhook_events ORDER BY webhook, at")
        #expect(
            try rows.map { "\(try $0.string("webhook")) \(try $0.string("kind"))" } == [
                "archive channel_created", "archive message", "default channel_created", "push message",
            ])
        #expect(try rows.map { try $0.string("body").contains("hello") } == [false, true, false, false])
        // Gateways report texts when one of them wants them.
        #expect(try await AppStore(pool: pool).settings(of: app)?.webhookMessages == .withText)
    }

    @Test func anAppThatNobodyCanUseHoldsUpNoOthers() async throws {
        let app = try await addApp("a")
        try await pool.query("INSERT INTO apps (id, certificate, token_required) VALUES ('no id', '', false)")
        try await pool.query(
            """
            INSERT INTO webhooks (app, url, secret, kinds)
            VALUES ('no id', 'https://a/', 'whsec-0123456789abcdef', '{join}')
            """)
        try await outbox.add(try events(of: app, 0..<3))
        #expect(try await waiting(app) == Array(0..<3))
        #expect(try await WebhookQueue(pool: pool, process: "one").webhooks() == [WebhookKey(app: app)])
        #expect(try await WebhookStore(pool: pool).standings().map(\.key) == [WebhookKey(app: app)])
    }

    @Test func theRoomIsThatOfAWebhook() async throws {
        let app = try await addApp("a")
        var slow = Webhook(
            WebhookKey(app: app, name: try #require(WebhookName("slow"))),
            url: try #require(WebhookURL("https://slow.example.com/")), secret: "whsec-0123456789abcdef")
        slow.kinds = [.channelCreated]
        #expect(try await WebhookStore(pool: pool).set(slow))
        let start = ContinuousClock.now
        try await outbox.add(try events(of: app, 0..<20), now: start)
        try await pool.query("DELETE FROM webhook_events WHERE webhook = 'default'")
        try await outbox.add(try events(of: app, 20..<30), now: start + .seconds(1))
        let rows = try await pool.query(
            "SELECT webhook, count(*) AS events FROM webhook_events GROUP BY webhook ORDER BY webhook")
        #expect(try rows.map { try $0.int64("events") } == [10, 20])
    }

    @Test func whatOtherProcessesQueueCounts() async throws {
        let app = try await addApp("a")
        let start = ContinuousClock.now
        try await outbox.add(try events(of: app, 0..<1), now: start)
        let another = WebhookOutbox(
            pool: pool, backlog: Self.backlog, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await another.add(try events(of: app, 1..<18), now: start)
        try await outbox.add(try events(of: app, 18..<30), now: start + .seconds(10))
        #expect(try await waiting(app) == Array(0..<20))
    }
}
