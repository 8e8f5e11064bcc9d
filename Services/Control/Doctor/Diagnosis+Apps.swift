internal import BusProtocol
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol
internal import WebhookClient

/// Looks at what apps have set, against what runs.
extension Diagnosis {
    // MARK: - Webhooks

    /// How long an event may wait before it is said, in seconds: as in the alert HeliographWebhooksLate.
    private static let patience: Int64 = 900
    /// How long a receiver may fail before it is said, in seconds: one that restarts is no news.
    private static let failingPatience: Int64 = 60
    /// How many apps are named.
    private static let named = 3

    mutating func lookAtWebhooks(_ standings: [WebhookStanding]) {
        guard !standings.isEmpty else { return }
        add(facts: ["webhooks: of \(Set(standings.map(\.key.app)).count) apps"])
        if let runningKinds, !runningKinds.contains("webhooks") {
            wrong(
                "no webhooks process runs: events of \(Self.names(standings)) wait, and are given up after a day; "
                    + "start one, or see why it ended (its log)")
        }
        let late = standings.filter { $0.oldest ?? 0 > Self.patience }
        if let oldest = late.compactMap(\.oldest).max() {
            let reason = late.compactMap(\.lastError).first.map { ", for example because: \($0)" } ?? ""
            advise(
                "events for the webhooks of \(Self.names(late)) have been waiting for up to "
                    + "\(oldest) s\(reason): see `heliographctl webhook list`; after a day they are given up")
        }
        lookAtReceivers(standings)
        let dead = standings.filter { $0.dead > 0 }
        if !dead.isEmpty {
            let letters = dead.map(\.dead).reduce(0, +)
            let atLeast = dead.contains { $0.dead >= WebhookStore.countedLetters } ? "at least " : ""
            advise(
                "\(atLeast)\(letters) events for the webhooks of \(Self.names(dead)) were given up: "
                    + "`heliographctl webhook dead APP` says why, `heliographctl webhook replay APP` sends them again; "
                    + "for APP/NAME with `--name NAME`")
        }
    }

    private mutating func lookAtReceivers(_ standings: [WebhookStanding]) {
        // What waits for these says why already.
        let failing = standings.filter { $0.oldest ?? 0 <= Self.patience && $0.failing ?? 0 > Self.failingPatience }
        for standing in failing.prefix(Self.named) {
            advise(
                "the receiver of the webhook of \(standing.key) has been failing for \(standing.failing ?? 0) s "
                    + "(\(standing.attempts) requests), because: \(standing.lastError ?? "unknown"); see "
                    + "`heliographctl webhook deliveries \(standing.key.arguments) --failed`, and try "
                    + "`heliographctl webhook test \(standing.key.arguments)`")
        }
        if failing.count > Self.named {
            advise("\(failing.count - Self.named) more receivers of webhooks fail: see `heliographctl webhook list`")
        }
    }

    private static func names(_ standings: [WebhookStanding]) -> String { names(standings.map(\.key.description)) }

    private static func names(_ apps: [String]) -> String {
        let rest = apps.count > named ? " and \(apps.count - named) more" : ""
        return apps.prefix(named).joined(separator: ", ") + rest
    }

    // MARK: - Before-hooks

    /// How many servers are tried, and for how long, all at once.
    private static let (triedHooks, hookPatience) = (20, Duration.seconds(3))

    /// Tries to connect to the servers that gateways ask. Those at loopback addresses are left out: that is the
    /// gateway's machine, which this one need not be.
    mutating func lookAtHooks(_ records: [BeforeHookRecord]) async {
        guard !records.isEmpty else { return }
        add(facts: ["before-hooks: of \(records.count) apps"])
        let open = records.filter { !$0.hook.url.isSecure && $0.hook.allowed.isEmpty }
        if !open.isEmpty {
            advise(
                "the before-hooks of \(Self.names(open.map(\.app.rawValue))) are asked by http: whoever listens on "
                    + "the way reads tokens and texts; set an https URL (`heliographctl hook set`)")
        }
        for (record, failure) in await Self.unreached(records) {
            let hook = record.hook
            let effect = hook.failsOpen ? "goes on unasked" : "is refused"
            let points = hook.points.points.map(\.rawValue).joined(separator: ", ")
            advise(
                "the before-hook of \(record.app) cannot be reached from this machine: \(failure.text); where gateways "
                    + "cannot either, what it is asked about (\(points)) \(effect): correct its URL "
                    + "(`heliographctl hook set`), or start its server")
        }
    }

    /// - Parameter apps: those whose servers are left alone because questions failed, with the gateways that do.
    mutating func lookAtOpenHooks(_ apps: [AppID: [String]]) {
        for (app, gateways) in apps.sorted(by: { $0.key < $1.key }).prefix(Self.named) {
            advise(
                "the server of the before-hook of \(app) is left alone by \(Self.names(gateways.sorted())), because "
                    + "questions failed: the gateway's log says why; mend it or the way to it, or let users go on "
                    + "unasked meanwhile (`heliographctl hook set \(app) ... --fail-open`)")
        }
        if apps.count > Self.named {
            advise("the servers of \(apps.count - Self.named) more before-hooks are left alone: see the console")
        }
    }

    private static func unreached(
        _ records: [BeforeHookRecord]
    ) async -> [(record: BeforeHookRecord, failure: WebhookFailure)] {
        let transport = WebhookTransport()
        let tried = records.filter { !$0.hook.allowed.contains(.loopback) }.prefix(triedHooks)
        let failures = await withTaskGroup(of: (Int, WebhookFailure?).self) { tasks in
            for (index, record) in tried.enumerated() {
                let destination = WebhookTransport.Destination(record.hook.url, allowed: record.hook.allowed)
                tasks.addTask { (index, await transport.reach(destination, within: hookPatience)) }
            }
            return await tasks.reduce(into: [Int: WebhookFailure]()) { $0[$1.0] = $1.1 }
        }
        return tried.enumerated().compactMap { index, record in failures[index].map { (record, $0) } }
    }

    // MARK: - Trunks

    /// How long after it was set a trunk may be unregistered before it is said, in milliseconds.
    private static let registrationPatience: Int64 = 60_000

    mutating func lookAtTrunks(_ records: [TrunkRecord]) {
        guard !records.isEmpty else { return }
        let registering = records.filter(\.trunk.register)
        let registered = registering.filter { $0.registrations.contains { $0.state == .registered } }
        add(
            facts: [
                "trunks: of \(records.count) apps, \(registering.count) of which register, and \(registered.count) are "
                    + "registered"
            ])
        if let runningKinds, !runningKinds.contains("sip-bridge") {
            wrong(
                "no sip-bridge process runs: users of \(Self.names(records.map(\.trunk.app.rawValue))) can neither "
                    + "call telephones nor be called, and no trunk is registered; start one, or see why it "
                    + "ended (its log)")
        } else {
            lookAtRegistrations(registering)
        }
    }

    private mutating func lookAtRegistrations(_ records: [TrunkRecord]) {
        let failing = records.filter { $0.registrations.contains { $0.state != .registered } }
        for record in failing.prefix(Self.named) {
            let (trunk, others) = (record.trunk, record.registrations.filter { $0.state != .registered })
            let bridges = others.prefix(Self.named).map { "the sip-bridge \($0.bridge) \($0.standing)" }
            advise(
                "the trunk of \(trunk.app) at \(trunk.host):\(trunk.port) is not registered: "
                    + bridges.joined(separator: "; ")
                    + "; calls from it do not arrive there: see `heliographctl trunk show \(trunk.app)`, and correct "
                    + "the user, the secret or the address (`heliographctl trunk set`)")
        }
        if failing.count > Self.named {
            advise("\(failing.count - Self.named) more trunks are not registered: see `heliographctl trunk list`")
        }
        let late = WallClock.milliseconds - Self.registrationPatience
        let silent = records.filter { $0.registrations.isEmpty && $0.trunk.updatedAt < late }
        if !silent.isEmpty {
            advise(
                "no sip-bridge tells whether the trunks of \(Self.names(silent.map(\.trunk.app.rawValue))) are "
                    + "registered: those of the release before do not tell, others cannot write to PostgreSQL "
                    + "(their log)")
        }
    }

    // MARK: - The server API

    /// - Parameter keys: the number of keys that are valid.
    mutating func lookAtKeys(_ keys: Int64) {
        // Gateways of the release before tell nothing.
        guard keys > 0, !gatewaysServeAPI.isEmpty, !gatewaysServeAPI.contains(true) else { return }
        advise(
            "\(keys) keys of the server API are valid, but no gateway serves it: set HELIOGRAPH_GATEWAY_API_PORT of "
                + "the gateways (Docs/api.md), or revoke them (`heliographctl key revoke`)")
    }
}
