/// How a committed change of attributes gets into the cache, which takes changes in the order of their versions: the change
/// before it may still be on its way from another instance.
///
/// waiting (up to ``patience`` looks) -> settled, or -> loading or comparing -> settled.
package struct AttributeSettlement: Sendable {
    /// What the cache said to the change.
    package enum Answer: String, Equatable, Sendable {
        /// It is in.
        case applied
        /// It was in already.
        case known
        /// The change before it is not in yet.
        case waiting
        /// The channel had no attributes before: the cache cannot tell whether it is the first.
        case first
    }

    /// What to do next.
    package enum Action: Equatable, Sendable {
        /// The change can be acknowledged.
        case settled
        /// Look again after that time.
        case lookAgain(after: Duration)
        /// Look whether PostgreSQL is older than the cache: its version is then below one that the cache has seen.
        case compare
        /// Read all attributes from PostgreSQL and put them into the cache.
        case load
    }

    /// Looks before PostgreSQL is asked.
    package static let patience = 8
    private var looks = 0

    /// Nothing asked yet.
    package init() {}

    /// Takes the cache's answer. Waits 10, 20, 40... ms, 100 at most: about half a second in all.
    package mutating func answered(_ answer: Answer) -> Action {
        switch answer {
        case .applied: return .settled
        // Known after waiting: the change before it brought it in. Known at once: a redelivery or a reload brought it in, or
        // PostgreSQL has lost commits and gives versions again.
        case .known: return looks > 0 ? .settled : .compare
        case .first: return .load
        case .waiting:
            guard looks < Self.patience else { return .load }
            looks += 1
            return .lookAgain(after: .milliseconds(min(5 << looks, 100)))
        }
    }
}
