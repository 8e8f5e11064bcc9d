/// Brings a committed change of attributes into the cache. The cache takes changes in the order of their versions, and
/// the previous change may still be on its way from another instance.
///
/// waiting (up to ``patience`` attempts) -> settled, or -> loading or comparing -> settled.
package struct AttributeSettlement: Sendable {
    /// The cache's answer to the change.
    package enum Answer: String, Equatable, Sendable {
        /// The change was applied.
        case applied
        /// The change was in the cache already.
        case known
        /// The previous change is not in the cache yet.
        case waiting
        /// The channel had no attributes before, so the cache cannot tell whether a previous change is missing.
        case first
    }

    /// What the caller must do next.
    package enum Action: Equatable, Sendable {
        /// Nothing more: the change may be acknowledged.
        case settled
        /// Offer the change to the cache again after this time.
        case retry(after: Duration)
        /// Check whether PostgreSQL is older than the cache; if so, its version is below one that the cache has seen.
        case compare
        /// Read all attributes from PostgreSQL and put them into the cache.
        case load
    }

    /// The number of attempts before the attributes are read from PostgreSQL.
    package static let patience = 8
    private var attempts = 0

    /// Creates a settlement before its first attempt.
    package init() {}

    /// Takes the cache's answer. Waits 10, 20, 40... ms, at most 100, between attempts: about half a second in all.
    package mutating func answered(_ answer: Answer) -> Action {
        switch answer {
        case .applied: return .settled
        // Known after waiting: the previous change brought this one along. Known at once: a redelivery or a reload
        // brought it, or PostgreSQL has lost commits and assigns their versions again.
        case .known: return attempts > 0 ? .settled : .compare
        case .first: return .load
        case .waiting:
            guard attempts < Self.patience else { return .load }
            attempts += 1
            return .retry(after: .milliseconds(min(5 << attempts, 100)))
        }
    }
}
