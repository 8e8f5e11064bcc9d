internal import ClusterState
package import RedisClient

extension RedisInspector {
    /// Searches all keys of some masters for channels with many members. A server answers other requests in between.
    /// - Parameter bound: the most members of a channel that is not listed.
    /// - Throws: when a master does not answer.
    package func channels(
        beyond bound: Int64 = ReshardBounds.members, on masters: [NodeAddress]
    ) async throws(RedisError) -> [BigChannel] {
        var found: [String: BigChannel] = [:]
        try await visitKeys(matching: ChannelKeys.membersPattern, on: masters) { connection, keys in
            let counts = await connection.execute(keys.map { RedisCommand("ZCARD", key: $0) })
            for (key, count) in zip(keys, counts) {
                // A key that has just been moved away is on the other master.
                guard let members = try? count.get().int, members > bound,
                    let channel = ChannelKeys.channel(ofMembers: key)
                else { continue }
                found[key] = BigChannel(
                    app: channel.app, channel: channel.name, members: members, slot: KeySlot.of(key))
            }
        }
        return found.values.sorted { $0.members > $1.members }
    }
}
