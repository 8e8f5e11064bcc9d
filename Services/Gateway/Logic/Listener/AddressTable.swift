package import Pacing

/// Counts, for each client address, its open connections, new connections and failed logins, and refuses what exceeds
/// the bounds. Failed logins are also counted for each /48 network of IPv6, which has 65,536 addresses in this sense.
package struct AddressTable: Sendable {
    /// The limits for one address.
    package struct Bounds: Sendable {
        /// Connections open at the same time.
        package var connections: Int
        /// New connections per second, after a burst of up to `connections`.
        package var connectionsPerSecond: Int
        /// Failed logins per second, after a burst of ten times as many.
        package var failedLoginsPerSecond: Int

        package init(connections: Int, connectionsPerSecond: Int, failedLoginsPerSecond: Int) {
            self.connections = connections
            self.connectionsPerSecond = connectionsPerSecond
            self.failedLoginsPerSecond = failedLoginsPerSecond
        }
    }

    /// Why a connection is refused.
    package enum Refusal: String, Sendable {
        /// Too many connections are open.
        case connections
        /// Too many connections were opened within a short time.
        case rate
    }

    /// The most addresses without an open connection that are remembered.
    package static let quietBound = 65_536
    /// The time without activity after which an address is taken to have its whole allowance again, so that
    /// forgetting it loses nothing.
    static let quietTime = LocalTime.Span(.seconds(60))

    private struct Entry {
        var connections = 0
        var arrivals: TokenBucket
        var failures: TokenBucket
        var lastAt: LocalTime
    }

    /// How many times the failed logins of one address a /48 network may have.
    package static let siteShare = 8

    /// The failed logins of a /48 network.
    private struct Site {
        var failures: TokenBucket
        var lastAt: LocalTime
    }

    private let bounds: Bounds
    private var entries: [ClientAddress: Entry] = [:]
    /// Those networks that had failed logins lately, at most ``quietBound``.
    private var sites: [ClientSite: Site] = [:]
    /// The number of entries with open connections.
    private var busy = 0

    /// An empty table.
    package init(bounds: Bounds) { self.bounds = bounds }

    /// The number of addresses in the table.
    package var count: Int { entries.count }

    /// The number of networks in the table.
    package var siteCount: Int { sites.count }

    /// Counts a new connection.
    /// - Returns: why it is refused; nil when it is admitted, and then ``closed(_:now:)`` must follow.
    package mutating func opened(_ address: ClientAddress, now: LocalTime) -> Refusal? {
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

    /// An admitted connection was closed.
    package mutating func closed(_ address: ClientAddress, now: LocalTime) {
        guard var entry = entries[address], entry.connections > 0 else { return }
        entry.connections -= 1
        entry.lastAt = now
        entries[address] = entry
        guard entry.connections == 0 else { return }
        busy -= 1
        forgetQuiet(now)
    }

    /// Whether clients of the address may try to log in; false while too many logins of it,
    /// or of its network, have failed.
    package mutating func mayLogIn(_ address: ClientAddress, now: LocalTime) -> Bool {
        guard entries[address]?.failures.has(now: now) ?? true else { return false }
        return address.site.flatMap { sites[$0]?.failures.has(now: now) } ?? true
    }

    /// Counts a login that failed because of what the client sent.
    package mutating func loginFailed(_ address: ClientAddress, now: LocalTime) {
        _ = entries[address]?.failures.take(now: now)
        guard let key = address.site else { return }
        let perSecond = bounds.failedLoginsPerSecond * Self.siteShare
        var site =
            sites[key] ?? Site(failures: TokenBucket(perSecond: perSecond, burst: perSecond * 10), lastAt: now)
        site.lastAt = now
        _ = site.failures.take(now: now)
        sites[key] = site
        guard sites.count > Self.quietBound else { return }
        sites = sites.filter { now - $0.value.lastAt < Self.quietTime }
        // Still too many, all of them within the last minute: the addresses' own bounds hold nevertheless.
        if sites.count > Self.quietBound / 2 { sites = [:] }
    }

    private func fresh(_ now: LocalTime) -> Entry {
        Entry(
            arrivals: TokenBucket(perSecond: bounds.connectionsPerSecond, burst: bounds.connections),
            failures: TokenBucket(
                perSecond: bounds.failedLoginsPerSecond, burst: bounds.failedLoginsPerSecond * 10),
            lastAt: now)
    }

    private mutating func forgetQuiet(_ now: LocalTime) {
        guard entries.count - busy > Self.quietBound else { return }
        entries = entries.filter { $0.value.connections > 0 || now - $0.value.lastAt < Self.quietTime }
        // Still too many, all of them active within the last minute: forgets every address without connections.
        if entries.count - busy > Self.quietBound / 2 { entries = entries.filter { $0.value.connections > 0 } }
    }
}
