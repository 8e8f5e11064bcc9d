public import PostgresStore
public import SignalingProtocol

/// Answers for apps' settings. What needs them goes on with what was last known while PostgreSQL is away.
public struct AppDirectory: Sendable {
    private let records: CachedRecords<AppID, AppSettings>

    /// Answers from the table `apps`, at most a second old.
    public init(store: AppStore) {
        records = CachedRecords { app async throws(PostgresError) in
            try await store.find(app).map {
                AppSettings(certificate: $0.certificate, tokenRequired: $0.tokenRequired, limits: $0.limits)
            }
        }
    }

    /// The settings of one app.
    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL is not available and the app not known yet.
    public func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
        let settings: AppSettings?
        do throws(PostgresError) { settings = try await records.find(app) } catch { throw error.signaling }
        guard let settings else {
            throw SignalingError(.loginRejected, "unknown_app", "there is no app with that id")
        }
        return settings
    }
}
