internal import BusProtocol
internal import ClusterBus
internal import Logging
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol
internal import SignalingWire

/// Applies and exports settings of apps for the server API.
///
/// Over a connection of its own, so that one request is carried out at a time, and none that waits for locks delays a
/// login.
struct SettingsHandler: Sendable {
    /// Requests that wait for the connection.
    static let waiting = 8
    /// What problems call the settings as a whole.
    private static let body = "the body"

    private let store: SettingStore
    private let apps: AppStore

    /// - Parameter pool: see ``pool(like:logger:)``.
    init(pool: PostgresPool) {
        store = SettingStore(pool: pool)
        apps = AppStore(pool: pool)
    }

    /// A connection to the same server, for settings only.
    static func pool(like other: PostgresPool, logger: Logger) -> PostgresPool {
        var configuration = other.configuration
        configuration.waitingQueries = waiting
        return PostgresPool(configuration: configuration, connections: 1, logger: logger)
    }

    /// Makes what settings say.
    /// - Parameter left: the time until nobody waits for the answer any more: what is not done then is not kept.
    /// - Throws: `SignalingError`: `settings_changed`, or that PostgreSQL does not answer or the time was over.
    func apply(
        _ command: ApplySettings, by cause: AuditCause, within left: Duration?
    ) async throws(SignalingError) -> SettingsAnswer {
        let terms = ApplyTerms(
            isDryRun: command.isDryRun, cause: cause, end: left.map { .now + $0 }, answerBytes: SettingsAnswer.bytes)
        do {
            let desired = try DesiredState(Array(command.settings.utf8), secrets: .values)
            return SettingsAnswer(json: try await store.apply(desired, terms).json.compactText)
        } catch let problem as SettingProblem {
            let place = problem.place == DesiredState.place ? Self.body : problem.place
            return SettingsAnswer(SettingsRefusal(place, problem.rule, found: problem.found))
        } catch ApplyFailure.longAnswer {
            return Self.tooLong(Self.body, "must make changes")
        } catch {
            throw Self.signaling(error)
        }
    }

    /// Reads what is set up.
    /// - Throws: `SignalingError`: `unknown_app`, or that PostgreSQL does not answer.
    func export(_ command: ExportSettings) async throws(SignalingError) -> SettingsAnswer {
        let state: ActualState
        do { state = try await store.read() } catch { throw Self.signaling(error) }
        if let app = command.app, state.apps[app] == nil {
            throw SignalingError(.failed, .unknownApp, "there is no app with that id")
        }
        let text = ExportFile.json(state, app: command.app).compactText
        guard text.utf8.count <= SettingsAnswer.bytes else { return Self.tooLong("app", "must be given for settings") }
        return SettingsAnswer(json: text)
    }

    /// Removes an app.
    /// - Parameter left: the time until nobody waits for the answer any more.
    /// - Throws: `SignalingError`: `unknown_app`, `timeout` when a part of the app is left, or that PostgreSQL does not
    ///   answer.
    func remove(
        _ command: RemoveApp, by cause: AuditCause, within left: Duration?
    ) async throws(SignalingError) -> Done {
        // The portion that is begun last has the other half.
        let end = left.map { ContinuousClock.now + $0 / 2 }
        let isRemoved = try await answerOfPostgres(or: Self.unfinished) { () throws(PostgresError) in
            try await apps.remove(command.app, by: cause, until: end)
        }
        guard isRemoved else { throw SignalingError(.failed, .unknownApp, "there is no app with that id") }
        return Done()
    }

    private static func unfinished(_ error: PostgresError) -> SignalingError {
        error.kind == .timeout ? .timeout() : error.signaling
    }

    private static func tooLong(_ place: String, _ what: String) -> SettingsAnswer {
        let size = place == body ? "at most" : "more than"
        return SettingsAnswer(SettingsRefusal(place, "\(what) of \(size) \(SettingsAnswer.bytes) bytes of JSON"))
    }

    private static func signaling(_ error: any Error) -> SignalingError {
        let others = "others are changing settings; nothing was changed: try again"
        switch error {
        case ApplyFailure.tooLate: return .timeout()
        case ApplyFailure.changedMeanwhile: return SignalingError(.failed, .settingsChanged, others)
        case let error as PostgresError where error.isLockConflict || error.isStatementTimeout:
            return SignalingError(.failed, .settingsChanged, others)
        case let error as PostgresError: return error.signaling
        default: return .unavailable("postgres")
        }
    }
}
