internal import InvitationLogic
internal import PostgresStore
internal import SignalingProtocol

/// What is known of callees: in Redis, of those who were there lately, and in PostgreSQL their numbers.
struct CalleeDirectory: Sendable {
    private let numbers: Batcher<UserKey, UInt32>

    init(store: UserStore) {
        numbers = Batcher { users throws(PostgresError) in try await store.numbers(of: users) }
    }

    /// A callee at the moment of an invitation.
    /// - Parameter party: as Redis knows the user. It forgets the number of who has been away for long.
    func presence(of user: UserKey, _ party: CallRecordStore.Party) async -> CalleePresence {
        var uid = party.uid
        // Calls go on while PostgreSQL is away; the caller is told 0 then, as of somebody who was never seen.
        if uid == 0, let number = try? await numbers.submit(user) { uid = number }
        return CalleePresence(online: party.session != nil, uid: uid)
    }
}
