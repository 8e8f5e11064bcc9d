internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import PostgresStore
internal import SignalingProtocol

/// Makes and revokes keys of the server API.
struct APIKeyHandler: Sendable {
    private let store: APIKeyStore

    init(store: APIKeyStore) { self.store = store }

    func create(_ command: CreateAPIKey, _ context: CommandContext) async throws(SignalingError) -> APIKeyCreated {
        let creation = try await answerOfPostgres { () throws(PostgresError) in
            try await store.create(command.key, note: command.note, by: AuditCause(context))
        }
        switch creation {
        case .created(let record): return APIKeyCreated(record: record)
        case .unknownApp: throw SignalingError(.failed, .unknownApp, "there is no app with that id")
        case .tooMany: throw SignalingError(.failed, .tooManyKeys, "at most \(APIKey.bound) keys are valid at a time")
        }
    }

    func revoke(_ command: RevokeAPIKey, _ context: CommandContext) async throws(SignalingError) -> Done {
        let isKnown = try await answerOfPostgres { () throws(PostgresError) in
            try await store.revoke(command.id, by: AuditCause(context))
        }
        guard isKnown else { throw SignalingError(.failed, .unknownKey, "there is no key with that id") }
        return Done()
    }
}
