package import PostgresStore
package import SignalingProtocol

/// Answers for apps' settings. What needs them goes on with what was last known while PostgreSQL is away.
///
/// Whether there is an app is judged by the list of all ids, read some times a second at most: an id that somebody made up
/// costs no query of its own.
package struct AppDirectory: Sendable {
    private let records: CachedRecords<AppID, AppSettings>
    private let ids: KnownIDs

    /// Answers from the table `apps`, at most a second old.
    package init(store: AppStore) {
        records = CachedRecords { app async throws(PostgresError) in
            try await store.find(app).map {
                AppSettings(certificate: $0.certificate, tokenRequired: $0.tokenRequired, limits: $0.limits)
            }
        }
        ids = KnownIDs { () async throws(PostgresError) in try await store.ids() }
    }

    /// The settings of one app.
    /// - Throws: `SignalingError` with reason `unknown_app`, or that PostgreSQL is not available and the app not known yet.
    package func settings(of app: AppID) async throws(SignalingError) -> AppSettings {
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

/// The ids of all apps.
actor KnownIDs {
    /// From the beginning of one reading to that of the next.
    private static let pause = Duration.milliseconds(100)

    private typealias Reading = Task<Result<Void, PostgresError>, Never>

    private let read: @Sendable () async throws(PostgresError) -> Set<AppID>
    private var known: Set<AppID> = []
    private var begunAt: ContinuousClock.Instant?
    /// The last reading that was asked for.
    private var last: Reading?
    /// That reading, until it begins.
    private var upcoming: Reading?

    init(read: @escaping @Sendable () async throws(PostgresError) -> Set<AppID>) { self.read = read }

    /// Whether there is such an app. One that is known stays so: whether it is gone is for its record to tell. One that is
    /// not is looked for in a reading that begins after the question, together with all that is asked until then.
    func contains(_ app: AppID) async throws(PostgresError) -> Bool {
        if known.contains(app) { return true }
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
        return known.contains(app)
    }

    private func readWhenDue() async -> Result<Void, PostgresError> {
        if let begunAt { try? await Task.sleep(until: begunAt + Self.pause, clock: .continuous) }
        upcoming = nil
        begunAt = .now
        do throws(PostgresError) {
            known = try await read()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
