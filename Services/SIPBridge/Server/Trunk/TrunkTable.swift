internal import PostgresStore

/// All trunks, and the numeric addresses of their hosts.
struct TrunkTable {
    private(set) var trunks: [SIPTrunk] = []
    private var byAddress: [String: [SIPTrunk]] = [:]

    /// Creates the table.
    /// - Parameter addresses: the addresses of each host, by its name as written in the trunk.
    init(trunks: [SIPTrunk] = [], addresses: [String: Set<String>] = [:]) {
        self.trunks = trunks
        for trunk in trunks {
            for address in addresses[trunk.host] ?? [] { byAddress[address, default: []].append(trunk) }
        }
        withDigest = trunks.filter { $0.acceptDigest && $0.authUser != nil && $0.secret != nil }
    }

    /// The trunks to which an address belongs.
    func trunks(at address: String) -> [SIPTrunk] { byAddress[address] ?? [] }

    /// The trunks that also accept calls from unknown addresses, with digest authentication.
    private(set) var withDigest: [SIPTrunk] = []
}
