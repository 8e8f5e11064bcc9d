internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol

/// The keys of the server API, at most a second old; while PostgreSQL does not answer, as they were last read, for
/// ``usableFor``: after that a key that was revoked meanwhile must not work at the one process that cannot know.
struct APIKeyRegistry: Sendable {
    /// The age up to which a key is used while PostgreSQL does not answer.
    static let usableFor = Duration.seconds(5)

    private let records: CachedRecords<String, APIKey>

    init(store: APIKeyStore) {
        records = CachedRecords(usableFor: Self.usableFor) { id async throws(PostgresError) in try await store.find(id)
        }
    }

    /// The key with this id.
    /// - Throws: `SignalingError` with reason `unknown_key`, or that PostgreSQL does not answer and the key was
    ///   not read in the last ``usableFor``.
    func key(_ id: String) async throws(SignalingError) -> APIKey {
        let key = try await answerOfPostgres { () throws(PostgresError) in try await records.find(id) }
        guard let key else { throw SignalingError(.loginRejected, .unknownKey, "there is no key with that id") }
        return key
    }
}
