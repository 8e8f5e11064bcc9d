internal import InvitationLogic
internal import PostgresStore
internal import SignalingProtocol

/// The numbers of callees whom Redis has forgotten, because they have been away for long; read from PostgreSQL.
struct CalleeNumbers: Sendable {
    private let numbers: Batcher<UserKey, UInt32>

    init(store: UserStore) {
        numbers = Batcher { users throws(PostgresError) in try await store.numbers(of: users) }
    }

    /// A callee at the moment of an invitation.
    /// - Parameter party: what Redis knows of the user.
    func presence(of user: UserKey, _ party: CallRecordStore.Party) async -> CalleePresence {
        var uid = party.uid
        // Calls go on while PostgreSQL is away; the caller is told 0 then, as of somebody who was never seen.
        if uid == 0, let number = try? await numbers.submit(user) { uid = number }
        return CalleePresence(online: party.session != nil, uid: uid)
    }
}
