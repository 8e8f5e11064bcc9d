/// Reads records through a ``RecordCache``: answers are at most a second old, or the last known ones while PostgreSQL
/// does not answer. Concurrent lookups of one key share a query. An answer's age counts from the moment of the
/// question: what PostgreSQL says may have changed while the answer was on its way.
package actor CachedRecords<Key: Hashable & Sendable, Record: Sendable> {
    private let query: @Sendable (Key) async throws(PostgresError) -> Record?
    private var cache: RecordCache<Key, Record>
    private let usableFor: Duration?
    private let now: @Sendable () -> ContinuousClock.Instant
    private var reading: [Key: Task<Result<Record?, PostgresError>, Never>] = [:]

    /// Creates an empty cache that is filled by `query`.
    /// - Parameters:
    ///   - bound: the largest number of cached keys; default 10,000.
    ///   - usableFor: the age up to which a record is used while PostgreSQL does not answer; default nil, without end.
    ///   - now: the clock; another one than the default only in tests.
    package init(
        bound: Int = 10_000, usableFor: Duration? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        query: @escaping @Sendable (Key) async throws(PostgresError) -> Record?
    ) {
        self.query = query
        self.usableFor = usableFor
        self.now = now
        cache = RecordCache(bound: bound)
    }

    /// The record of a key; nil when there is none.
    /// - Throws: ``PostgresError`` when PostgreSQL does not answer and the key has never been read, or too long ago.
    package func find(_ key: Key) async throws(PostgresError) -> Record? {
        let finding = cache.find(key, now: now())
        if case .fresh(let record) = finding { return record }
        switch await read(key) {
        case .success(let record):
            return record
        case .failure(let error):
            if case .stale(let record, let readAt) = finding, isUsable(readAt) { return record }
            throw error
        }
    }

    private func isUsable(_ readAt: ContinuousClock.Instant) -> Bool {
        usableFor.map { readAt.duration(to: now()) < $0 } ?? true
    }

    private func read(_ key: Key) async -> Result<Record?, PostgresError> {
        if let task = reading[key] { return await task.value }
        let asked = now()
        let task = Task { [query] () -> Result<Record?, PostgresError> in
            do throws(PostgresError) { return .success(try await query(key)) } catch { return .failure(error) }
        }
        reading[key] = task
        let result = await task.value
        reading[key] = nil
        if case .success(let record) = result { cache.store(record, for: key, readAt: asked) }
        return result
    }
}
