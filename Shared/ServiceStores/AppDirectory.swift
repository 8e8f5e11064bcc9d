public import PostgresStore
public import SignalingProtocol

/// Answers for apps' settings. What needs them goes on with what was last known while PostgreSQL is away.
///
/// Whether there is an app is judged by the list of all ids, read at most once a second: an id that somebody made up costs
/// no query of its own.
public struct AppDirectory: Sendable {
    private let records: CachedRecords<AppID, AppSettings>
    private let ids: KnownIDs

    /// Answers from the table `apps`, at most a second old.
    public init(store: AppStore) {
        records = CachedRecords { app async throws(PostgresError) in
            try await store.find(app).map {
                AppSettings(certificate: $0.certificate, tokenRequired: $0.tokenRequired, limits: $0.limits)
            }
        }
        ids = KnownIDs { () async throws(PostgresError) in try await store.ids() }
    }

    /// The settings of one app.
    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL is not available and the app not known yet.
    public func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
        let settings: AppSettings?
        do throws(PostgresError) {
            settings = try await ids.contains(app) ? try await records.find(app) : nil
        } catch {
            throw error.signaling
        }
        guard let settings else {
            throw SignalingError(.loginRejected, "unknown_app", "there is no app with that id")
        }
        return settings
    }
}

/// The ids of all apps, as they were known a second ago.
actor KnownIDs {
    private static let freshness = Duration.seconds(1)

    private let read: @Sendable () async throws(PostgresError) -> Set<AppID>
    private var known: Set<AppID> = []
    private var readAt: ContinuousClock.Instant?
    private var reading: Task<Result<Set<AppID>, PostgresError>, Never>?

    init(read: @escaping @Sendable () async throws(PostgresError) -> Set<AppID>) { self.read = read }

    /// Whether there is such an app. One that is known stays so: whether it is gone is for its record to tell.
    func contains(_ app: AppID) async throws(PostgresError) -> Bool {
        if known.contains(app) { return true }
        if let readAt, .now - readAt < Self.freshness { return false }
        let task =
            reading
            ?? Task { [read] in
                do throws(PostgresError) { return .success(try await read()) } catch { return .failure(error) }
            }
        reading = task
        let result = await task.value
        if reading == task { reading = nil }
        known = try result.get()
        readAt = .now
        return known.contains(app)
    }
}
