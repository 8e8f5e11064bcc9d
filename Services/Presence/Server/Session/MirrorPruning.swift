internal import Logging
internal import PostgresStore

/// Keeps the mirrors' tables from growing: deletes rows of users and members who have long been absent, once a minute, and
/// again a second later where a batch did not reach.
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
