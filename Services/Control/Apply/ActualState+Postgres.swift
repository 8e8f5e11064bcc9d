internal import BusProtocol
internal import ControlApply
internal import PostgresStore
internal import SignalingProtocol

extension ActualState {
    /// Reads what is set up.
    init(on session: any PostgresSession) async throws(PostgresError) {
        var apps: [AppID: ActualApp] = [:]
        for record in try await AppStore(pool: session).list() { apps[record.id] = ActualApp(record: record) }
        for record in try await WebhookStore(pool: session).list() {
            apps[record.webhook.app]?.webhook = record.webhook
        }
        for record in try await BeforeHookStore(pool: session).list() { apps[record.app]?.hook = record.hook }
        for trunk in try await TrunkStore(pool: session).list() { apps[trunk.app]?.trunk = trunk }
        var numbers: [String: UserKey] = [:]
        for number in try await NumberStore(pool: session).list() { numbers[number.number] = number.user }
        self.init(apps: apps, numbers: numbers)
    }
}

extension PlannedAct {
    /// Carries it out as the single command does.
    /// - Throws: ``PostgresError``; ``Failure`` when what was there is not, which ends the transaction.
    func perform(on session: any PostgresSession) async throws {
        guard try await isDone(on: session) else {
            throw Failure.refused("somebody else has changed what is set up; nothing was changed: try again")
        }
    }

    private func isDone(on session: any PostgresSession) async throws -> Bool {
        switch self {
        case .create(let app, let certificate, let tokenRequired, let limits):
            _ = try await AppStore(pool: session).create(
                id: app, certificate: certificate, tokenRequired: tokenRequired, limits: limits)
            return true
        case .requireToken(let app, let required):
            return try await AppStore(pool: session).setTokenRequired(required, of: app)
        case .rotate(let app, let certificate):
            return try await AppStore(pool: session).rotateCertificate(app, to: certificate)
        case .limit(let app, let patch):
            return try await AppStore(pool: session).changeLimits(of: app, patch.apply) != nil
        case .setWebhook(let webhook): return try await WebhookStore(pool: session).set(webhook)
        case .removeWebhook(let app): return try await WebhookStore(pool: session).remove(app)
        case .setHook(let hook, let app): return try await BeforeHookStore(pool: session).set(hook, of: app)
        case .removeHook(let app): return try await BeforeHookStore(pool: session).remove(app)
        case .setTrunk(let trunk):
            try await TrunkStore(pool: session).set(trunk)
            return true
        case .removeTrunk(let app): return try await TrunkStore(pool: session).remove(app)
        case .setNumber(let number, let user): return try await NumberStore(pool: session).set(number, to: user)
        case .removeNumber(let number): return try await NumberStore(pool: session).remove(number)
        }
    }
}
