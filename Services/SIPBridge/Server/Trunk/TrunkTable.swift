internal import PostgresStore

/// All trunks, and the numeric addresses that their hosts have.
struct TrunkTable {
    private(set) var trunks: [SIPTrunk] = []
    private var byAddress: [String: [SIPTrunk]] = [:]

    /// Makes the table.
    /// - Parameter addresses: by host, as the trunks spell it.
    init(trunks: [SIPTrunk] = [], addresses: [String: Set<String>] = [:]) {
        self.trunks = trunks
        for trunk in trunks {
            for address in addresses[trunk.host] ?? [] { byAddress[address, default: []].append(trunk) }
        }
        withDigest = trunks.filter { $0.acceptDigest && $0.authUser != nil && $0.secret != nil }
    }

    /// The trunks that an address belongs to.
    func trunks(at address: String) -> [SIPTrunk] { byAddress[address] ?? [] }

    /// The trunks whose calls are also accepted from unknown addresses, by digest.
    private(set) var withDigest: [SIPTrunk] = []
}
