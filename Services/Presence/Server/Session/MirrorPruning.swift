internal import Logging
internal import PostgresStore

/// Deletes mirror rows of users and members that have been absent for long: once a minute, and again after a second
/// when one batch was not enough.
actor MirrorPruning {
    private let store: MirrorStore
    private let logger: Logger
    private var next = ContinuousClock.now

    init(store: MirrorStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func pruneIfDue() async {
        guard ContinuousClock.now >= next else { return }
        next = .now + .seconds(60)
        do {
            if try await store.prune() >= MirrorStore.pruneBatch { next = .now + .seconds(1) }
        } catch {
            logger.warning("could not delete old mirror rows", metadata: ["error": "\(error)"])
        }
    }
}

/// Empties PostgreSQL's copies of sessions and members when mirrors are turned off: an hour after a row's
/// last change. Rows that stayed would be shown to administrators, and if mirrors were turned on again, their
/// users would be told to be offline.
struct MirrorRemoval: Sendable {
    /// The pause after a full batch.
    private static let pause = Duration.seconds(1)

    let store: MirrorStore

    func round(_ renew: () async throws -> Void) async throws {
        while try await store.prune(isOff: true) >= MirrorStore.pruneBatch {
            try await renew()
            try await Task.sleep(for: Self.pause)
        }
    }
}
