/// A cache of PostgreSQL records. An entry is fresh for a second; after that it is used only while PostgreSQL does not
/// answer.
///
/// Missing records are cached as well, so that repeated lookups of an unknown key do not cost a query each.
package struct RecordCache<Key: Hashable & Sendable, Record: Sendable>: Sendable {
    /// How long an entry is fresh.
    package static var freshness: Duration { .seconds(1) }

    private struct Entry {
        var record: Record?
        var readAt: ContinuousClock.Instant
    }

    /// The largest number of cached keys.
    package let bound: Int
    private var entries: [Key: Entry] = [:]

    /// Creates an empty cache.
    /// - Parameter bound: the largest number of cached keys; default 10,000.
    package init(bound: Int = 10_000) { self.bound = bound }

    /// The result of a lookup.
    package enum Lookup {
        /// Read less than a second ago; nil when there is no such record.
        case fresh(Record?)
        /// Read longer ago, at the given time: to be used only when PostgreSQL does not answer.
        case stale(Record?, readAt: ContinuousClock.Instant)
        /// Not read yet.
        case missing
    }

    /// Looks up a key.
    package func find(_ key: Key, now: ContinuousClock.Instant) -> Lookup {
        guard let entry = entries[key] else { return .missing }
        return entry.readAt.duration(to: now) < Self.freshness
            ? .fresh(entry.record)
            : .stale(entry.record, readAt: entry.readAt)
    }

    /// Caches the result of a query.
    /// - Parameters:
    ///   - record: nil when there is no such record.
    ///   - readAt: when the query was made.
    package mutating func store(_ record: Record?, for key: Key, readAt: ContinuousClock.Instant) {
        if entries.count >= bound, entries[key] == nil {
            // Evict missing records first: a flood of unknown keys must not evict the records that keep the
            // service going during an outage.
            let empty = entries.filter { $0.value.record == nil }.keys
            if empty.isEmpty { entries.removeAll() }
            for key in empty { entries[key] = nil }
        }
        entries[key] = Entry(record: record, readAt: readAt)
    }
}

extension RecordCache.Lookup: Equatable where Record: Equatable {}
extension RecordCache.Lookup: Sendable {}
