internal import PostgresStore
internal import SignalingProtocol

/// The apps of the cluster and their settings, read from PostgreSQL; while PostgreSQL is away, as they were last known.
///
/// Whether there is an app is judged by the list of all ids, read ten times a second at most: an id that somebody made up
/// costs no query of its own.
actor AppRegistry {
    /// From the beginning of one reading of the ids to that of the next.
    private static let pause = Duration.milliseconds(100)

    private typealias Reading = Task<Result<Void, PostgresError>, Never>

    private let records: CachedRecords<AppID, AppSettings>
    private let readIDs: @Sendable () async throws(PostgresError) -> Set<AppID>
    private var ids: Set<AppID> = []
    /// When the last reading of the ids began.
    private var begunAt: ContinuousClock.Instant?
    /// The last reading that was asked for.
    private var last: Reading?
    /// That reading, until it begins.
    private var upcoming: Reading?

    /// Answers from the table `apps`; settings are at most a second old.
    init(store: AppStore) {
        records = CachedRecords { app async throws(PostgresError) in
            try await store.find(app).map {
                AppSettings(certificate: $0.certificate, tokenRequired: $0.tokenRequired, limits: $0.limits)
            }
        }
        readIDs = { () async throws(PostgresError) in try await store.ids() }
    }

    /// The settings of one app.
    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL is not available and the app was never read.
    func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
        let settings: AppSettings?
        do throws(PostgresError) {
            settings = try await exists(app) ? try await records.find(app) : nil
        } catch {
            throw error.signaling
        }
        guard let settings else {
            throw SignalingError(.loginRejected, .unknownApp, "there is no app with that id")
        }
        return settings
    }

    /// An app that is known counts as there: whether it was removed since is for its record to tell. One that is not known
    /// is looked for in a reading that begins after the question, together with all that are asked for until then.
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
