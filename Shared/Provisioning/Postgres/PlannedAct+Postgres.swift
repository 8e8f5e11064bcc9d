internal import PostgresStore
internal import SignalingProtocol

extension PlannedAct {
    /// Carries it out as the single command does.
    /// - Throws: ``PostgresError``; ``ApplyFailure/changedMeanwhile`` when what was there is not, which ends the
    ///   transaction.
    func perform(on session: any PostgresSession) async throws {
        guard try await isDone(on: session) else { throw ApplyFailure.changedMeanwhile }
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
        case .removeWebhook(let key): return try await WebhookStore(pool: session).remove(key)
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
