internal import PostgresStore
internal import SignalingProtocol

/// Answers the server API's lists. Few are read at once: logins need the same connections to PostgreSQL.
actor RecordLists {
    /// Lists that are read at once.
    private static let readers = 2
    /// Further ones that wait.
    private static let waitingBound = 200

    private let store: RecordListStore
    private var reading = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(store: RecordListStore) { self.store = store }

    /// Reads a page.
    /// - Throws: `SignalingError`: that too many wait, or that PostgreSQL does not answer.
    func page(_ command: ListRecords) async throws(SignalingError) -> RecordPage {
        if reading < Self.readers {
            reading += 1
        } else {
            guard waiting.count < Self.waitingBound else {
                throw SignalingError(.failed, .overloaded, "\(Self.waitingBound) lists wait to be read already")
            }
            // Whoever resumes this passes its place on.
            await withCheckedContinuation { waiting.append($0) }
        }
        defer { passOn() }
        do throws(PostgresError) {
            return try await store.page(command)
        } catch {
            throw error.signaling
        }
    }

    private func passOn() {
        if waiting.isEmpty {
            reading -= 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
