public import SignalingProtocol

/// Settings of apps for a second, and beyond that for as long as PostgreSQL is away.
///
/// Unknown apps are remembered like known ones, so that wrong ids cost no query each.
public struct AppCache: Sendable {
    /// Apps remembered at most.
    public static let bound = 10_000
    /// Milliseconds that an entry counts as fresh.
    public static let freshness: Int64 = 1000

    private struct Entry {
        var settings: AppSettings?
        var readAt: Int64
    }

    private var entries: [AppID: Entry] = [:]

    /// An empty cache.
    public init() {}

    /// What is known of an app.
    public enum Finding: Equatable, Sendable {
        /// Read within a second; nil settings: there is no such app.
        case fresh(AppSettings?)
        /// Read longer ago: use it only when PostgreSQL does not answer.
        case stale(AppSettings?)
        /// Not read yet.
        case missing
    }

    /// Looks an app up.
    /// - Parameter now: milliseconds of a clock that never goes back.
    public func find(_ app: AppID, now: Int64) -> Finding {
        guard let entry = entries[app] else { return .missing }
        return now - entry.readAt < Self.freshness ? .fresh(entry.settings) : .stale(entry.settings)
    }

    /// Remembers what PostgreSQL said.
    /// - Parameters:
    ///   - settings: nil when there is no such app.
    ///   - now: milliseconds of the same clock.
    public mutating func store(_ settings: AppSettings?, for app: AppID, now: Int64) {
        if entries.count >= Self.bound, entries[app] == nil {
            // Unknown ids first: a flood of them must not push out what keeps logins going.
            let unknown = entries.filter { $0.value.settings == nil }.keys
            if unknown.isEmpty { entries.removeAll() }
            for key in unknown { entries[key] = nil }
        }
        entries[app] = Entry(settings: settings, readAt: now)
    }
}
