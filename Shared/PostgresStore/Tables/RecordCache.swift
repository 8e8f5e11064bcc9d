/// Records of PostgreSQL for a second, and beyond that for as long as PostgreSQL is away.
///
/// Keys without a record are remembered like the others, so that wrong ones cost no query each.
package struct RecordCache<Key: Hashable & Sendable, Record: Sendable>: Sendable {
    /// Milliseconds that an entry counts as fresh.
    package static var freshness: Int64 { 1000 }

    private struct Entry {
        var record: Record?
        var readAt: Int64
    }

    /// Keys remembered at most.
    package let bound: Int
    private var entries: [Key: Entry] = [:]

    /// An empty cache.
    /// - Parameter bound: keys remembered at most; default 10,000.
    package init(bound: Int = 10_000) { self.bound = bound }

    /// What is known of a key.
    package enum Finding {
        /// Read within a second; nil: there is no such record.
        case fresh(Record?)
        /// Read longer ago: use it only when PostgreSQL does not answer.
        case stale(Record?)
        /// Not read yet.
        case missing
    }

    /// Looks a key up.
    /// - Parameter now: milliseconds of a clock that never goes back.
    package func find(_ key: Key, now: Int64) -> Finding {
        guard let entry = entries[key] else { return .missing }
        return now - entry.readAt < Self.freshness ? .fresh(entry.record) : .stale(entry.record)
    }

    /// Remembers what PostgreSQL said.
    /// - Parameters:
    ///   - record: nil when there is none.
    ///   - now: milliseconds of the same clock.
    package mutating func store(_ record: Record?, for key: Key, now: Int64) {
        if entries.count >= bound, entries[key] == nil {
            // Wrong keys first: a flood of them must not push out what keeps the service going.
            let empty = entries.filter { $0.value.record == nil }.keys
            if empty.isEmpty { entries.removeAll() }
            for key in empty { entries[key] = nil }
        }
        entries[key] = Entry(record: record, readAt: now)
    }
}

extension RecordCache.Finding: Equatable where Record: Equatable {}
extension RecordCache.Finding: Sendable {}
