internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import PostgresStore
internal import SignalingProtocol

/// Bans networks of client addresses, and tells gateways of them.
struct AddressBanHandler: Sendable {
    /// The only key of ``known``.
    private static let all = "all"

    private let store: AddressBanStore
    /// What gateways are told, at most a second old; while PostgreSQL does not answer, as it was last read.
    private let known: CachedRecords<String, [ClientNetwork]>

    init(store: AddressBanStore) {
        self.store = store
        known = CachedRecords(bound: 1) { _ async throws(PostgresError) in try await store.networks() }
    }

    func ban(_ command: BanAddress, _ context: CommandContext) async throws(SignalingError) -> AddressBan {
        let ban = try await answerOfPostgres { () throws(PostgresError) in
            try await store.set(
                command.network, until: command.until, reason: command.reason, by: AuditCause(context))
        }
        guard let ban else {
            throw SignalingError(.failed, .tooManyBans, "at most \(AddressBan.bound) networks are banned at a time")
        }
        return ban
    }

    func lift(_ command: LiftAddressBan, _ context: CommandContext) async throws(SignalingError) -> Done {
        let held = try await answerOfPostgres { () throws(PostgresError) in
            try await store.lift(command.network, by: AuditCause(context))
        }
        guard held else { throw SignalingError(.failed, .notBanned, "the network is not banned") }
        return Done()
    }

    func list(_ command: ListAddressBans, _ context: CommandContext) async throws(SignalingError) -> AddressBanPage {
        var bans = try await answerOfPostgres { () throws(PostgresError) in
            try await store.page(after: command.after, limit: command.limit + 1)
        }
        let isLast = bans.count <= command.limit
        bans = Array(bans.prefix(command.limit))
        return AddressBanPage(bans: bans, next: isLast ? nil : bans.last?.network)
    }

    func networks(
        _ command: GetBannedNetworks, _ context: CommandContext
    ) async throws(SignalingError) -> BannedNetworks {
        let networks = try await answerOfPostgres { () throws(PostgresError) in try await known.find(Self.all) } ?? []
        return BannedNetworks(networks, unless: command.known)
    }
}
