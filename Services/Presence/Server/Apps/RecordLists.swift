internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import PresenceLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// Answers the server API's lists, in the order of a ``ListQueue``.
///
/// They are read over connections of their own, which have a breaker of their own: a list that takes long delays no
/// login. The server ends it before this process gives up, so that the connection can be used again.
actor RecordLists {
    /// How long PostgreSQL may work on a page.
    private static let patience = Duration.seconds(2)
    /// How long a list waits that has no deadline.
    private static let longestWait = Duration.seconds(8)

    private let store: RecordListStore
    private var queue = ListQueue()
    private var count = 0
    /// Those that wait; resumed with whether the list is to be read.
    private var waiting: [ListQueue.ID: CheckedContinuation<Bool, Never>] = [:]

    /// - Parameter pool: see ``pool(like:logger:)``.
    init(pool: PostgresPool) { store = RecordListStore(pool: pool) }

    /// Connections to the same server, for lists only: as many as are read at once.
    static func pool(like other: PostgresPool, logger: Logger) -> PostgresPool {
        var configuration = other.configuration
        configuration.queryTimeout = patience
        return PostgresPool(
            configuration: configuration, connections: ListQueue.readers, purpose: .lists, logger: logger)
    }

    /// Reads a page.
    /// - Parameter left: the time until nobody waits for the answer any more; nil when that is not known.
    /// - Throws: `SignalingError`: that too many wait, that its turn came too late, or that PostgreSQL does not answer.
    func page(_ command: ListRecords, within left: Duration?) async throws(SignalingError) -> RecordPage {
        let app = command.app?.rawValue ?? ""
        try await takePlace(of: app, within: left ?? Self.longestWait)
        defer { passOn(app) }
        do throws(PostgresError) {
            return try await store.page(command)
        } catch {
            guard error.isStatementTimeout else { throw error.signaling }
            PresenceMetrics.shared.listsEnded.increment()
            throw SignalingError(
                .failed, .unavailable,
                "the list took longer than \(Self.patience.components.seconds) s to read; try again, or ask for fewer "
                    + "records"
            )
        }
    }

    private func takePlace(of app: String, within left: Duration) async throws(SignalingError) {
        count += 1
        let (id, now) = (count, ContinuousClock.now)
        let (arrival, dropped) = queue.arrived(id, of: app, until: now + left, now: now)
        drop(dropped)
        switch arrival {
        case .read: return
        case .wait:
            // Whoever resumes this has passed a place on.
            guard await withCheckedContinuation({ waiting[id] = $0 }) else { throw .timeout() }
        case .refused(let bound, let ofApp):
            PresenceMetrics.shared.listsRefused.increment()
            throw SignalingError(
                .failed, .overloaded,
                "\(bound) lists \(ofApp ? "of the app" : "of all apps") wait to be read already; try again")
        }
    }

    private func passOn(_ app: String) {
        let turn = queue.finished(app, now: .now)
        drop(turn.dropped)
        if let next = turn.next { waiting.removeValue(forKey: next)?.resume(returning: true) }
    }

    private func drop(_ late: [ListQueue.ID]) {
        PresenceMetrics.shared.listsDropped.increment(by: late.count)
        for id in late { waiting.removeValue(forKey: id)?.resume(returning: false) }
    }
}
