/// The places for connections at the port of the server API.
///
/// When all are taken, a new connection takes the place of an idle one, which is closed. An idle connection is one that
/// waits for its next request. Connections that have not shown a valid key lose their places first, and among equals
/// the one that has waited longest. So neither idle connections nor strangers keep apps' servers out.
package struct ConnectionPlaces: Sendable {
    /// Who a connection is.
    package typealias ID = UInt64

    /// What becomes of a new connection.
    package enum Opening: Equatable, Sendable {
        /// It stays, and ``closed(_:)`` must follow.
        case admitted(ID)
        /// It stays, and another one must be closed, which is not counted any more.
        case admittedInsteadOf(other: ID, ID)
        /// All places are taken by requests in progress.
        case full
        /// Its address has as many connections as it may.
        case addressIsFull
    }

    private struct Entry {
        /// Nil when its address is not counted.
        let address: String?
        /// Whether a request is in progress.
        var isBusy = false
        /// Whether a request with a valid key was answered.
        var isProven = false
        /// When it began to wait, as a count of such moments.
        var since: UInt64
    }

    private let bound: Int
    private let addressBound: Int
    private var entries: [ID: Entry] = [:]
    private var ofAddresses: [String: Int] = [:]
    private var lastID: ID = 0
    private var moments: UInt64 = 0

    /// - Parameters:
    ///   - bound: connections at most.
    ///   - addressBound: those of one address at most.
    package init(bound: Int, addressBound: Int) {
        self.bound = bound
        self.addressBound = addressBound
    }

    package var count: Int { entries.count }

    /// A connection was accepted.
    /// - Parameter address: under which it is counted; nil when it is not.
    package mutating func opened(from address: String?) -> Opening {
        if let address, ofAddresses[address, default: 0] >= addressBound { return .addressIsFull }
        var evicted: ID?
        if entries.count >= bound {
            evicted = idlest
            guard let evicted else { return .full }
            closed(evicted)
        }
        lastID += 1
        moments += 1
        entries[lastID] = Entry(address: address, since: moments)
        if let address { ofAddresses[address, default: 0] += 1 }
        return evicted.map { .admittedInsteadOf(other: $0, lastID) } ?? .admitted(lastID)
    }

    /// A connection has ended; one that is not counted any more is ignored.
    package mutating func closed(_ id: ID) {
        guard let address = entries.removeValue(forKey: id)?.address, let count = ofAddresses[address] else { return }
        ofAddresses[address] = count == 1 ? nil : count - 1
    }

    /// A request's head has come.
    package mutating func began(_ id: ID) { entries[id]?.isBusy = true }

    /// All requests that have come were answered.
    /// - Parameter isProven: whether one of them had a valid key.
    package mutating func waits(_ id: ID, isProven: Bool) {
        moments += 1
        entries[id]?.isBusy = false
        entries[id]?.isProven = isProven
        entries[id]?.since = moments
    }

    /// The connection that gives its place up first; nil when all are busy.
    private var idlest: ID? {
        entries.lazy.filter { !$0.value.isBusy }.min {
            ($0.value.isProven ? 1 : 0, $0.value.since) < ($1.value.isProven ? 1 : 0, $1.value.since)
        }?.key
    }
}
