package import RedisClient

/// What makes moving slots slow or dangerous.
package enum ReshardBounds {
    /// The most entries of a partition's stream or timers. MIGRATE blocks both servers while it copies a key. Streams
    /// are trimmed to about 100,000, and may keep a few more.
    package static let entries: Int64 = 101_000
    /// The most members of a channel.
    package static let members: Int64 = 50_000
}

extension RedisInspection {
    /// What stands against moving slots now, each as one line; nothing if there are no slots to move.
    package func obstacles(channels: [BigChannel]) -> [String] {
        guard flavour == .cluster else { return [] }
        var lines = findings.filter { $0.weight == .wrong }.map(\.text)
        lines += moves.map { "\($0), and the move has not ended: end it with redis-cli --cluster fix" }
        lines += unreplicated.map { "the master \($0) has no replica: if it dies during a move, the slot is lost" }
        lines += bigKeys + channels.map { $0.line(in: .cluster) } + misplaced + settingFindings.map(\.text)
        return lines
    }

    private var bigKeys: [String] {
        partitions.flatMap { partition in
            (partition.entries?.big ?? [:]).sorted { $0.key < $1.key }.map { key, entries in
                "\(key) has \(entries) entries: do not move slot \(partition.keySlot) before its service has worked "
                    + "them off, since MIGRATE blocks both servers while it copies them"
            }
        }
    }

    /// The partitions whose keys are not where most of their users and channels are: their commands take another server
    /// than the data that they change.
    private var misplaced: [String] {
        guard let owners = view?.owners else { return [] }
        return partitions.compactMap { partition in
            var counts: [String: Int] = [:]
            for slot in partition.range { if let owner = owners[Int(slot)] { counts[owner, default: 0] += 1 } }
            guard let holder = owners[Int(partition.keySlot)],
                let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), most.key != holder,
                most.value > counts[holder, default: 0]
            else { return nil }
            return "partition \(partition.number) has its keys on \(name(of: holder)), but \(name(of: most.key)) has "
                + "\(most.value) of its \(partition.range.count) slots \(SlotMap.text(of: [partition.range])): give "
                + "slot \(partition.keySlot) to that master too"
        }
    }
}

extension BigChannel {
    /// For an operator of a Redis of this kind.
    package func line(in flavour: RedisFlavour) -> String {
        let condition = flavour == .cluster ? "" : "if Redis becomes a cluster, "
        return
            "the channel \(channel) of \(app) has \(members) members: \(condition)do not move slot \(slot), since "
            + "MIGRATE blocks both servers while it copies them"
    }
}
