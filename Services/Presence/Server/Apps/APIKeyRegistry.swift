internal import PostgresStore
internal import SignalingProtocol

/// The keys of the server API, at most a second old; while PostgreSQL does not answer, as they were last read.
struct APIKeyRegistry: Sendable {
    private let records: CachedRecords<String, APIKey>

    init(store: APIKeyStore) {
        records = CachedRecords { id async throws(PostgresError) in try await store.find(id) }
    }

    /// The key with this id.
    /// - Throws: `SignalingError` with reason `unknown_key`, or that PostgreSQL does not answer and the key was never read.
    func key(_ id: String) async throws(SignalingError) -> APIKey {
        let key: APIKey?
        do throws(PostgresError) {
            key = try await records.find(id)
        } catch {
            throw error.signaling
        }
        guard let key else { throw SignalingError(.loginRejected, .unknownKey, "there is no key with that id") }
        return key
    }
}
