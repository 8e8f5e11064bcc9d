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
