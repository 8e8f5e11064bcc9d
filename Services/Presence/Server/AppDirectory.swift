internal import PostgresStore
internal import SignalingProtocol

/// Answers for apps' settings. Logins go on with what was last known while PostgreSQL is away.
struct AppDirectory: Sendable {
    private let records: CachedRecords<AppID, AppSettings>

    init(store: AppStore) {
        records = CachedRecords { app async throws(PostgresError) in
            try await store.find(app).map {
                AppSettings(certificate: $0.certificate, tokenRequired: $0.tokenRequired, limits: $0.limits)
            }
        }
    }

    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL is not available and the app not known yet.
    func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
        let settings: AppSettings?
        do throws(PostgresError) { settings = try await records.find(app) } catch { throw error.signaling }
        guard let settings else {
            throw SignalingError(.loginRejected, "unknown_app", "there is no app with that id")
        }
        return settings
    }
}
