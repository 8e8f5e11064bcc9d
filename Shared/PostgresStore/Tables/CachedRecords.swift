/// Reads records through a ``RecordCache``: answers are at most a second old, or the last known ones while PostgreSQL does
/// not answer. Concurrent lookups of one key share a query.
package actor CachedRecords<Key: Hashable & Sendable, Record: Sendable> {
    private let query: @Sendable (Key) async throws(PostgresError) -> Record?
    private var cache: RecordCache<Key, Record>
    private var reading: [Key: Task<Result<Record?, PostgresError>, Never>] = [:]

    /// Creates an empty cache that is filled by `query`.
    /// - Parameter bound: the largest number of cached keys; default 10,000.
    package init(bound: Int = 10_000, query: @escaping @Sendable (Key) async throws(PostgresError) -> Record?) {
        self.query = query
        cache = RecordCache(bound: bound)
    }

    /// The record of a key; nil when there is none.
    /// - Throws: ``PostgresError`` when PostgreSQL does not answer and the key has never been read.
    package func find(_ key: Key) async throws(PostgresError) -> Record? {
        let finding = cache.find(key, now: .now)
        if case .fresh(let record) = finding { return record }
        switch await read(key) {
        case .success(let record):
            return record
        case .failure(let error):
            if case .stale(let record) = finding { return record }
            throw error
        }
    }

    private func read(_ key: Key) async -> Result<Record?, PostgresError> {
        if let task = reading[key] { return await task.value }
        let task = Task { [query] () -> Result<Record?, PostgresError> in
            do throws(PostgresError) { return .success(try await query(key)) } catch { return .failure(error) }
        }
        reading[key] = task
        let result = await task.value
        reading[key] = nil
        if case .success(let record) = result { cache.store(record, for: key, now: .now) }
        return result
    }
}
