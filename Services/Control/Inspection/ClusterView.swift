internal import ClusterState
package import RedisClient

/// A Redis Cluster as one of its servers sees it. Source: Redis documentation, CLUSTER NODES.
package struct ClusterView: Sendable, Equatable {
    /// A server.
    package struct Node: Sendable, Equatable {
        package let id: String
        /// Where it listens, as far as it is known.
        package let address: NodeAddress?
        /// What the server that was asked thinks of it, such as `master` and `fail?`.
        package let flags: Set<String>
        /// The id of a replica's master.
        package let master: String?
        /// The slots that it owns.
        package let slots: [ClosedRange<UInt16>]

        package var isMaster: Bool { flags.contains("master") }
        /// Whether most masters, or the one that was asked, cannot reach it.
        package var isFailing: Bool { flags.contains("fail") || flags.contains("fail?") }
    }

    /// A slot that is being moved.
    package struct OpenSlot: Sendable, Equatable {
        package let slot: UInt16
        /// Whether the server that was asked gives it away; otherwise it receives it.
        package let isLeaving: Bool
        /// The id of the other server.
        package let other: String
    }

    /// The id of the server that was asked.
    package private(set) var own = ""
    package private(set) var nodes: [Node] = []
    /// The slots that the server that was asked gives away or receives: others do not know of them.
    package private(set) var open: [OpenSlot] = []

    /// Reads the reply to CLUSTER NODES.
    /// - Parameters:
    ///   - asked: the server that replied; its host stands for an address without a host.
    ///   - endpoints: the addresses in its reply to CLUSTER SLOTS, which are those for clients. Used
    ///     for the servers that they fit.
    /// - Throws: code `SHAPE`.
    init(nodes text: String, asked: NodeAddress, endpoints: Set<NodeAddress> = []) throws(RedisError) {
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: " ").map { String($0) }
            guard words.count >= 8 else { throw .shape("the reply of \(asked) to CLUSTER NODES") }
            let flags = Set(words[2].split(separator: ",").map { String($0) })
            if flags.contains("myself") { own = words[0] }
            let addresses = Self.addresses(words[1], asked: asked)
            let slots = words.dropFirst(8)
            nodes.append(
                Node(
                    id: words[0], address: addresses.first(where: endpoints.contains) ?? addresses.first, flags: flags,
                    master: words[3] == "-" ? nil : words[3], slots: slots.compactMap(Self.range)))
            open += slots.compactMap(Self.openSlot)
        }
        guard !own.isEmpty else { throw .shape("the reply of \(asked) to CLUSTER NODES") }
    }

    /// Who owns which slots, as one text: equal in views that agree.
    var distribution: String {
        nodes.filter { !$0.slots.isEmpty }.sorted { $0.id < $1.id }
            .map { "\($0.id) \(SlotMap.text(of: $0.slots))" }.joined(separator: ", ")
    }

    /// The id of each slot's owner; nil where there is none.
    var owners: [String?] {
        var owners = [String?](repeating: nil, count: KeySlot.count)
        for node in nodes { for range in node.slots { for slot in range { owners[Int(slot)] = node.id } } }
        return owners
    }

    /// What a node may be reached at, of `IP:PORT@BUS[,HOSTNAME[,...]]`: an unknown server has neither IP nor port.
    private static func addresses(_ text: String, asked: NodeAddress) -> [NodeAddress] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let place = parts[0].prefix { $0 != "@" }
        guard let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]),
            NodeAddress.ports.contains(port)
        else { return [] }
        let hosts = [String(place[..<colon]), parts.count > 1 ? String(parts[1]) : ""].filter { !$0.isEmpty }
        return (hosts.isEmpty ? [asked.host] : hosts).map { NodeAddress(host: $0, port: port) }
    }

    /// `5461` or `0-5460`.
    private static func range(_ word: String) -> ClosedRange<UInt16>? {
        let bounds = word.split(separator: "-").map { UInt16($0) }
        guard let first = bounds.first ?? nil, let last = bounds.last ?? nil, bounds.count <= 2, first <= last,
            last < KeySlot.count
        else { return nil }
        return first...last
    }

    /// `[77->-ID]` for a slot that goes to ID, `[93-<-ID]` for one that comes from there.
    private static func openSlot(_ word: String) -> OpenSlot? {
        guard word.hasPrefix("["), word.hasSuffix("]") else { return nil }
        let text = word.dropFirst().dropLast()
        guard let dash = text.firstIndex(of: "-"), let slot = UInt16(text[..<dash]) else { return nil }
        let rest = text[dash...]
        guard rest.hasPrefix("->-") || rest.hasPrefix("-<-") else { return nil }
        return OpenSlot(slot: slot, isLeaving: rest.hasPrefix("->-"), other: String(rest.dropFirst(3)))
    }
}
