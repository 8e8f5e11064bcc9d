internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// Compares the layout that Redis records for the cluster with the one that this build needs, and writes it where there
/// is none.
struct LayoutCheck {
    let needed: RedisLayout

    /// - Parameter found: the layout's hash.
    /// - Returns: nil when the layouts are equal or the hash is empty; a hash that cannot be parsed is refused.
    func refusal(_ found: RedisValue) -> ClusterRefusal? {
        let words = found.texts
        guard !words.isEmpty else { return nil }
        if let layout = try? RedisLayout(hash: found) {
            return layout == needed ? nil : .layout(found: layout.description, needed: needed)
        }
        let pairs = stride(from: 0, to: words.count - 1, by: 2).map { "\(words[$0]) \(words[$0 + 1])" }
        return .layout(found: pairs.joined(separator: ", "), needed: needed)
    }

    /// Writes the layout unless another process has just done so.
    /// - Returns: the layout's hash.
    func claim(on connection: RedisClient) async throws(SignalingError) -> RedisValue {
        let words = needed.words
        var commands: [RedisCommand] = []
        for index in stride(from: 0, to: words.count, by: 2) {
            commands.append(RedisCommand("HSETNX", key: KeySpace.layout, words[index], words[index + 1]))
        }
        commands.append(RedisCommand("HGETALL", key: KeySpace.layout))
        let answer: RedisValue?
        switch connection.bus.flavour {
        case .single:
            let transaction = [RedisCommand("MULTI")] + commands + [RedisCommand("EXEC")]
            answer = try await connection.answers(to: transaction).last?.array?.last
        // Without a transaction, because commands of other slots could come in between. Two processes that start at the
        // same moment and need different layouts may then write a mixture, and both are refused.
        case .cluster: answer = try await connection.answers(to: commands).last
        }
        guard let hash = answer, !hash.texts.isEmpty else { throw .unreadableAnswer }
        return hash
    }
}
