/// What a connection at the port of the server API has done, and when it must end.
///
/// Times are in nanoseconds of any clock.
package struct APIConnection: Equatable, Sendable {
    /// How long a client may take nothing of what is written to it.
    package static let patience: Int64 = 30_000_000_000
    /// How long a connection without a valid key may wait for the end of a request's head.
    package static let strangersIdleTime: Int64 = 15_000_000_000
    /// Answers to requests without a valid key on one connection at most. A page of the console needs about twenty.
    package static let strangersAnswers = 100

    /// Why a connection must end.
    package enum End: Equatable, Sendable {
        /// The client takes nothing.
        case stalled
        /// It has shown no valid key and asks nothing.
        case idle
    }

    /// Whether a request with a valid key was answered.
    package private(set) var isProven = false
    /// Requests that were not answered yet.
    package private(set) var underWay = 0
    private var strangersLeft = Self.strangersAnswers
    private var waitsSince: Int64
    private var unwritableSince: Int64?

    /// - Parameter now: when it was accepted.
    package init(now: Int64) { waitsSince = now }

    /// A request's head has come.
    package mutating func began() { underWay += 1 }

    /// A request was answered.
    /// - Parameter hasKey: whether its key was valid.
    /// - Returns: whether the connection may go on.
    package mutating func answered(hasKey: Bool, now: Int64) -> Bool {
        underWay -= 1
        waitsSince = now
        if hasKey { isProven = true }
        guard !isProven else { return true }
        strangersLeft -= 1
        return strangersLeft > 0
    }

    /// Whether more can be written has changed.
    package mutating func isWritable(_ isWritable: Bool, now: Int64) { unwritableSince = isWritable ? nil : now }

    /// Whether it must end now, and else when to look again; nil for when something has happened.
    package func check(now: Int64) -> (end: End?, again: Int64?) {
        if let unwritableSince {
            return now - unwritableSince >= Self.patience ? (.stalled, nil) : (nil, unwritableSince + Self.patience)
        }
        guard underWay == 0, !isProven else { return (nil, nil) }
        return now - waitsSince >= Self.strangersIdleTime ? (.idle, nil) : (nil, waitsSince + Self.strangersIdleTime)
    }
}
