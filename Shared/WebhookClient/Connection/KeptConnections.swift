/// The connections to apps' servers that wait for their next request.
struct KeptConnections<Place: Hashable, Connection: Identifiable> {
    private let placeBound: Int
    private let bound: Int
    private var waiting: [Place: [Connection]] = [:]
    private(set) var count = 0

    /// - Parameters:
    ///   - placeBound: how many wait for requests to one place.
    ///   - bound: how many wait in all.
    init(placeBound: Int, bound: Int) {
        self.placeBound = placeBound
        self.bound = bound
    }

    /// The connection to a place that has waited least: its server is the least likely to have closed it.
    mutating func take(to place: Place) -> Connection? {
        guard let taken = waiting[place]?.popLast() else { return nil }
        count -= 1
        if waiting[place]?.isEmpty == true { waiting[place] = nil }
        return taken
    }

    /// Keeps a connection, unless a bound is reached.
    /// - Returns: whether it is kept.
    mutating func keep(_ connection: Connection, to place: Place) -> Bool {
        guard count < bound, waiting[place, default: []].count < placeBound else { return false }
        waiting[place, default: []].append(connection)
        count += 1
        return true
    }

    /// Forgets a connection that has ended, if it is here.
    mutating func remove(_ connection: Connection, to place: Place) {
        guard let index = waiting[place]?.firstIndex(where: { $0.id == connection.id }) else { return }
        waiting[place]?.remove(at: index)
        count -= 1
        if waiting[place]?.isEmpty == true { waiting[place] = nil }
    }

    /// Forgets all, and returns them.
    mutating func removeAll() -> [Connection] {
        defer {
            waiting = [:]
            count = 0
        }
        return waiting.values.flatMap(\.self)
    }
}
