internal import PostgresStore
internal import PresenceLogic
internal import SignalingProtocol

/// Answers for apps' settings; concurrent questions about one app share a query.
actor AppDirectory {
    private let store: AppStore
    private var cache = AppCache()
    private var reading: [AppID: Task<Result<AppSettings?, PostgresError>, Never>] = [:]
    private let start = ContinuousClock.now

    init(store: AppStore) { self.store = store }

    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL is not available and the app not known yet.
    func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
        guard let settings = try await find(app) else {
            throw SignalingError(.loginRejected, "unknown_app", "there is no app with that id")
        }
        return settings
    }

    private func find(_ app: AppID) async throws(SignalingError) -> AppSettings? {
        let finding = cache.find(app, now: now)
        if case .fresh(let settings) = finding { return settings }
        switch await read(app) {
        case .success(let settings):
            return settings
        case .failure(let error):
            // Logins go on with what was last known while PostgreSQL is away.
            if case .stale(let settings) = finding { return settings }
            throw error.signaling
        }
    }

    private func read(_ app: AppID) async -> Result<AppSettings?, PostgresError> {
        if let task = reading[app] { return await task.value }
        let task = Task { [store] () -> Result<AppSettings?, PostgresError> in
            do throws(PostgresError) {
                let record = try await store.find(app)
                return .success(
                    record.map {
                        AppSettings(certificate: $0.certificate, tokenRequired: $0.tokenRequired, limits: $0.limits)
                    })
            } catch {
                return .failure(error)
            }
        }
        reading[app] = task
        let result = await task.value
        reading[app] = nil
        if case .success(let settings) = result { cache.store(settings, for: app, now: now) }
        return result
    }

    private var now: Int64 { Int64((ContinuousClock.now - start) / .milliseconds(1)) }
}
