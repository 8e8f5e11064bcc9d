/// Decides which TCP and TLS connections are accepted, so that strangers cannot use up the descriptors that calls need:
/// strangers get few, per address and together; the trunks have the rest.
package struct ConnectionBudget<Peer: Hashable & Sendable>: Sendable {
    /// Connections of one unknown address, at most; default 16.
    package var perStranger = 16
    /// Connections of all unknown addresses, at most; default 256.
    package var ofStrangers = 256
    /// Connections that peers opened, at most; default 4096.
    package var total = 4096
    /// The least time between two searches of all connections for closed ones, ms.
    private static var pause: UInt64 { 100 }

    /// A connection that somebody opened.
    package struct Connection: Sendable {
        /// Names the connection, whoever has its descriptor next.
        var peer: Peer
        /// Where it comes from.
        var address: String
        /// Whether the address is a trunk's.
        var isKnown: Bool

        /// Describes a connection.
        package init(peer: Peer, address: String, isKnown: Bool) {
            self.peer = peer
            self.address = address
            self.isKnown = isKnown
        }
    }

    private var entries: [Int32: Connection] = [:]
    private var strangers: [String: Set<Int32>] = [:]
    private var strangerCount = 0
    private var looked: UInt64?

    /// Makes a budget without connections.
    package init() {}

    /// Connections that are believed to be open.
    package var count: Int { entries.count }

    /// Decides about a new connection, and counts it if it is accepted.
    /// - Parameters:
    ///   - descriptor: its socket.
    ///   - now: ms of a monotonic clock.
    ///   - isOpen: whether a descriptor is still that peer's: nobody tells when a connection ends.
    package mutating func take(
        _ descriptor: Int32, _ connection: Connection, now: UInt64, isOpen: (Int32, Peer) -> Bool
    ) -> Bool {
        let (address, isKnown) = (connection.address, connection.isKnown)
        remove(descriptor)
        if !isKnown, strangers[address, default: []].count >= perStranger {
            for other in strangers[address] ?? [] { look(at: other, isOpen) }
            if strangers[address, default: []].count >= perStranger { return false }
        }
        if isFull(isKnown), looked.map({ now >= $0 + Self.pause }) ?? true {
            looked = now
            for other in Array(entries.keys) { look(at: other, isOpen) }
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

    private mutating func look(at descriptor: Int32, _ isOpen: (Int32, Peer) -> Bool) {
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
