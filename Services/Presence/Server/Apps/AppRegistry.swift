internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol

/// The cluster's apps and their settings, read from PostgreSQL; while it does not answer, as they were last read.
///
/// Whether an app exists is determined from the list of all ids, which is read at most ten times a second: invented ids
/// do not cost a query each.
actor AppRegistry {
    /// The shortest time from the start of one read of the ids to the start of the next.
    private static let pause = Duration.milliseconds(100)

    private typealias Reading = Task<Result<Void, PostgresError>, Never>

    private let records: CachedRecords<AppID, AppSettings>
    private let readIDs: @Sendable () async throws(PostgresError) -> Set<AppID>
    private var ids: Set<AppID> = []
    /// When the last read of the ids began.
    private var begunAt: ContinuousClock.Instant?
    /// The last read that was requested.
    private var last: Reading?
    /// The last requested read, while it has not begun.
    private var upcoming: Reading?

    /// Reads the table `apps`; settings are at most a second old.
    init(store: AppStore) {
        records = CachedRecords { app async throws(PostgresError) in
            try await store.settings(of: app)
        }
        readIDs = { () async throws(PostgresError) in try await store.ids() }
    }

    /// The settings of an app.
    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL does not answer and the app was never
    ///   read.
    func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
        let settings = try await answerOfPostgres { () throws(PostgresError) in
            try await exists(app) ? try await records.find(app) : nil
        }
        guard let settings else {
            throw SignalingError(.loginRejected, .unknownApp, "there is no app with that id")
        }
        return settings
    }

    /// Whether an app exists. A known app is assumed to exist; reading its record shows if it was removed. For an
    /// unknown one, the ids are read again: one read serves all requests that came before it began.
    private func exists(_ app: AppID) async throws(PostgresError) -> Bool {
        if ids.contains(app) { return true }
        let reading: Reading
        if let upcoming {
            reading = upcoming
        } else {
            let before = last
            reading = Task {
                _ = await before?.value
                return await self.readWhenDue()
            }
            last = reading
            upcoming = reading
        }
        try await reading.value.get()
        return ids.contains(app)
    }

    private func readWhenDue() async -> Result<Void, PostgresError> {
        if let begunAt { try? await Task.sleep(until: begunAt + Self.pause, clock: .continuous) }
        upcoming = nil
        begunAt = .now
        do throws(PostgresError) {
            ids = try await readIDs()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
