package import Pacing

/// Decides which TCP and TLS connections are accepted, so that unknown addresses cannot exhaust the descriptors that
/// calls need. Unknown addresses may have few connections, per address and in total; trunks have the rest.
package struct ConnectionBudget<Peer: Hashable & Sendable>: Sendable {
    /// The largest number of connections from one unknown address; default 16.
    package var perStranger = 16
    /// The largest number of connections from all unknown addresses; default 256.
    package var ofStrangers = 256
    /// The largest number of connections opened by peers; default 4096.
    package var total = 4096
    /// The shortest time between two searches for closed connections.
    private static var pause: Duration { .milliseconds(100) }

    /// A connection that a peer has opened.
    package struct Connection: Sendable {
        /// Identifies the connection, even when its descriptor is reused later.
        var peer: Peer
        /// The address it comes from.
        var address: String
        /// Whether the address is a trunk's.
        var isKnown: Bool

        /// Creates the description of a connection.
        package init(peer: Peer, address: String, isKnown: Bool) {
            self.peer = peer
            self.address = address
            self.isKnown = isKnown
        }
    }

    private var entries: [Int32: Connection] = [:]
    private var strangers: [String: Set<Int32>] = [:]
    private var strangerCount = 0
    private var lastSweep: LocalTime?

    /// Creates a budget without connections.
    package init() {}

    /// The number of connections believed to be open.
    package var count: Int { entries.count }

    /// Decides on a new connection, and counts it if it is accepted.
    /// - Parameters:
    ///   - descriptor: the connection's socket.
    ///   - isOpen: whether a descriptor still belongs to this peer; needed because the end of a connection is not
    ///     reported.
    package mutating func take(
        _ descriptor: Int32, _ connection: Connection, now: LocalTime, isOpen: (Int32, Peer) -> Bool
    ) -> Bool {
        let (address, isKnown) = (connection.address, connection.isKnown)
        remove(descriptor)
        if !isKnown, strangers[address, default: []].count >= perStranger {
            for other in strangers[address] ?? [] { removeIfClosed(other, isOpen) }
            if strangers[address, default: []].count >= perStranger { return false }
        }
        if isFull(isKnown), lastSweep.map({ now >= $0 + Self.pause }) ?? true {
            lastSweep = now
            for other in Array(entries.keys) { removeIfClosed(other, isOpen) }
        }
        if isFull(isKnown) { return false }
        entries[descriptor] = connection
        if !isKnown {
            strangers[address, default: []].insert(descriptor)
            strangerCount += 1
        }
        return true
    }

    private func isFull(_ isKnown: Bool) -> Bool {
        entries.count >= total || (!isKnown && strangerCount >= ofStrangers)
    }

    private mutating func removeIfClosed(_ descriptor: Int32, _ isOpen: (Int32, Peer) -> Bool) {
        guard let entry = entries[descriptor], !isOpen(descriptor, entry.peer) else { return }
        remove(descriptor)
    }

    private mutating func remove(_ descriptor: Int32) {
        guard let entry = entries.removeValue(forKey: descriptor), !entry.isKnown else { return }
        strangerCount -= 1
        strangers[entry.address]?.remove(descriptor)
        if strangers[entry.address]?.isEmpty == true { strangers[entry.address] = nil }
    }
}
