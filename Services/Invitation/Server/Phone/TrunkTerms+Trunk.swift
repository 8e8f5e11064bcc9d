internal import InvitationLogic
internal import PostgresStore
internal import SignalingProtocol

extension CachedRecords<AppID, TrunkTerms> {
    /// Reads the terms of apps' trunks.
    init(store: TrunkStore) {
        self.init { app async throws(PostgresError) in try await store.find(app).map(TrunkTerms.init) }
    }

    /// The terms of an app's trunk; nil for an app without a trunk.
    /// - Throws: `SignalingError` when PostgreSQL does not answer and the app's trunk was never read.
    nonisolated func terms(of app: AppID) async throws(SignalingError) -> TrunkTerms? {
        try await answerOfPostgres { () throws(PostgresError) in try await find(app) }
    }
}

extension TrunkTerms {
    init(_ trunk: SIPTrunk) {
        self.init(ring: trunk.ringTime)
        longest = trunk.policy.longestCall
        linesPerUser = trunk.policy.callsPerUser
        newLinesPerUser = trunk.policy.newCallsPerUser
        linesPerApp = trunk.policy.callsPerApp
        newLinesPerApp = trunk.policy.newCallsPerApp
    }
}
