internal import InvitationLogic
internal import PostgresStore
internal import SignalingProtocol

/// Reads numeric ids of users from PostgreSQL: of callees whom Redis has forgotten because they were offline for long,
/// and of callers in whose name an app's server invites.
struct CalleeNumbers: Sendable {
    private let numbers: Batcher<UserKey, UInt32>

    init(store: UserStore) {
        numbers = Batcher { users throws(PostgresError) in try await store.numbers(of: users) }
    }

    /// What is known about a callee at the time of an invitation.
    /// - Parameter party: what Redis knows about the user.
    func presence(of user: UserKey, _ party: CallRecordStore.Party) async -> CalleePresence {
        var uid = party.uid
        // Calls must work while PostgreSQL does not answer; the caller then gets 0, as for a user who never logged in.
        if uid == 0, let number = try? await numbers.submit(user) { uid = number }
        return CalleePresence(online: party.session != nil, uid: uid)
    }
}
