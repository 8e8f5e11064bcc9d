/// What the clients of each address do at the door: connections at once, new ones, and logins that fail.
package struct AddressTable: Sendable {
    /// What one address may do.
    package struct Bounds: Sendable {
        /// Connections at once.
        package var connections: Int
        /// New connections in a second, after a burst of as many as may be there at once.
        package var connectionsPerSecond: Int
        /// Failed logins in a second, after a burst of ten times as many.
        package var failedLoginsPerSecond: Int

        /// Names them.
        package init(connections: Int, connectionsPerSecond: Int, failedLoginsPerSecond: Int) {
            self.connections = connections
            self.connectionsPerSecond = connectionsPerSecond
            self.failedLoginsPerSecond = failedLoginsPerSecond
        }
    }

    /// Why a connection is refused.
    package enum Refusal: String, Sendable {
        /// Too many are there.
        case connections
        /// Too many have come.
        case rate
    }

    /// Addresses without a connection that are remembered at most.
    package static let quietBound = 65_536
    /// After so long an address that does nothing has used up nothing, ms.
    static let quietTime: Int64 = 60_000

    private struct Entry {
        var connections = 0
        var arrivals: TokenBucket
        var failures: TokenBucket
        var lastAt: Int64
    }

    private let bounds: Bounds
    private var entries: [ClientAddress: Entry] = [:]
    /// Entries with connections.
    private var busy = 0

    /// An empty table.
    package init(bounds: Bounds) { self.bounds = bounds }

    /// Addresses in it.
    package var count: Int { entries.count }

    /// A connection comes; where it is admitted, ``closed(_:now:)`` must follow. Times are milliseconds of a clock that
    /// never goes back.
    /// - Returns: why it is refused; nil when it is admitted.
    package mutating func opened(_ address: ClientAddress, now: Int64) -> Refusal? {
        var entry = entries[address] ?? fresh(now)
        entry.lastAt = now
        var refusal: Refusal?
        if entry.connections >= bounds.connections {
            refusal = .connections
        } else if !entry.arrivals.take(now: now) {
            refusal = .rate
        } else {
            if entry.connections == 0 { busy += 1 }
            entry.connections += 1
        }
        entries[address] = entry
        forgetQuiet(now)
        return refusal
    }

    /// A connection that was admitted is gone.
    package mutating func closed(_ address: ClientAddress, now: Int64) {
        guard var entry = entries[address], entry.connections > 0 else { return }
        entry.connections -= 1
        entry.lastAt = now
        entries[address] = entry
        guard entry.connections == 0 else { return }
        busy -= 1
        forgetQuiet(now)
    }

    /// Whether clients of the address may try to log in: not while too many logins have failed.
    package mutating func mayLogIn(_ address: ClientAddress, now: Int64) -> Bool {
        entries[address]?.failures.has(now: now) ?? true
    }

    /// A login failed for what the client said.
    package mutating func loginFailed(_ address: ClientAddress, now: Int64) {
        _ = entries[address]?.failures.take(now: now)
    }

    private func fresh(_ now: Int64) -> Entry {
        Entry(
            arrivals: TokenBucket(perSecond: bounds.connectionsPerSecond, burst: bounds.connections),
            failures: TokenBucket(
                perSecond: bounds.failedLoginsPerSecond, burst: bounds.failedLoginsPerSecond * 10),
            lastAt: now)
    }

    private mutating func forgetQuiet(_ now: Int64) {
        guard entries.count - busy > Self.quietBound else { return }
        entries = entries.filter { $0.value.connections > 0 || now - $0.value.lastAt < Self.quietTime }
        // So many addresses within a minute are not worth remembering one by one.
        if entries.count - busy > Self.quietBound / 2 { entries = entries.filter { $0.value.connections > 0 } }
    }
}
