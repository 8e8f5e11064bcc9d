internal import PostgresStore

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
