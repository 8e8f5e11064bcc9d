internal import PostgresStore

/// All trunks, and the numeric addresses that their hosts have.
struct TrunkTable {
    private(set) var trunks: [SIPTrunk] = []
    private var addresses: [String: Set<String>] = [:]

    /// Makes the table.
    /// - Parameter addresses: by host, as the trunks spell it.
    init(trunks: [SIPTrunk] = [], addresses: [String: Set<String>] = [:]) {
        self.trunks = trunks
        self.addresses = addresses
    }

    /// The trunks that an address belongs to.
    func trunks(at address: String) -> [SIPTrunk] {
        trunks.filter { addresses[$0.host]?.contains(address) ?? false }
    }

    /// The trunks whose calls are also taken from elsewhere, with digest.
    var withDigest: [SIPTrunk] { trunks.filter { $0.acceptDigest && $0.authUser != nil && $0.secret != nil } }
}
