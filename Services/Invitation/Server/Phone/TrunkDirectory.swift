internal import InvitationLogic
internal import PostgresStore
internal import SignalingProtocol

/// Which apps have a trunk, and on what terms.
struct TrunkDirectory: Sendable {
    private let records: CachedRecords<AppID, SIPTrunk>

    init(store: TrunkStore) {
        records = CachedRecords { app async throws(PostgresError) in try await store.find(app) }
    }

    /// - Returns: nil for an app without a trunk.
    /// - Throws: `SignalingError` when PostgreSQL is not available and the app not known yet.
    func terms(of app: AppID) async throws(SignalingError) -> TrunkTerms? {
        do throws(PostgresError) {
            return try await records.find(app).map(TrunkTerms.init)
        } catch {
            throw error.signaling
        }
    }
}

extension TrunkTerms {
    init(_ trunk: SIPTrunk) {
        self.init(ring: Int64(trunk.ringSeconds) * 1000)
        longest = Int64(trunk.policy.longestCall) * 1000
        linesPerUser = trunk.policy.callsPerUser
        newLinesPerUser = trunk.policy.newCallsPerUser
        linesPerApp = trunk.policy.callsPerApp
        newLinesPerApp = trunk.policy.newCallsPerApp
    }
}
