internal import RedisClient

extension RedisInspection {
    /// Where memory in use becomes a danger, as a part of the limit.
    static let fullest = 0.9
    /// By how many bytes a replica may be behind its master: what it has not got is lost with the master.
    private static let tolerableLag: Int64 = 10 << 20
    /// By how many milliseconds the servers' clocks may differ. A deadline or timer may be set by the clock of one
    /// server and read by that of another, for example after a failover.
    static let tolerableClockDifference: Int64 = 500
    /// The fewest masters, or Sentinels, of which a majority is left when one dies.
    private static let fewestVoters = 3

    /// What is wrong with Redis, and what could be better.
    package var findings: [Finding] {
        var findings = silent.map {
            Finding.wrong("\($0.address) does not answer: \($0.why); start it, or correct the address")
        }
        for server in servers { findings += Self.findings(of: server) }
        for master in masters {
            for replica in replicas(of: master) { findings += self.findings(of: replica, master) }
        }
        findings += clockFindings + libraryFindings
        switch flavour {
        case .single: break
        case .sentinel: findings += sentinelFindings
        case .cluster: findings += clusterFindings + settingFindings
        }
        return findings + busFindings
    }

    private static func findings(of server: ServerState) -> [Finding] {
        var findings: [Finding] = []
        if let limit = server.memoryLimit, Double(server.memory) > Double(limit) * fullest {
            findings.append(
                .wrong(
                    "\(server.address) uses \(server.memory * 100 / limit) % of its maxmemory: when it is full, "
                        + "messages and logins are refused; raise maxmemory, or add masters and move slots to them"))
        }
        if server.memoryLimit != nil, server.evictionPolicy != "noeviction" {
            findings.append(
                .wrong(
                    "\(server.address) deletes data when it is full (maxmemory-policy \(server.evictionPolicy)): set "
                        + "it to noeviction"))
        }
        return findings
    }

    private func findings(of replica: ServerState, _ master: ServerState) -> [Finding] {
        guard replica.isLinked else {
            return [
                .wrong(
                    "the replica \(replica.address) is not connected to its master \(master.address): look at its log, "
                        + "its network and masterauth"
                )
            ]
        }
        let lag = lag(of: replica, behind: master)
        guard lag > Self.tolerableLag else { return [] }
        return [
            .advice(
                "the replica \(replica.address) is \(lag >> 20) MiB behind its master \(master.address): so much is "
                    + "lost if the master fails now")
        ]
    }

    private var clockFindings: [Finding] {
        let clocks = servers.compactMap { server in server.clockLead.map { (server.address, $0) } }
        guard let slow = clocks.min(by: { $0.1.upperBound < $1.1.upperBound }),
            let fast = clocks.max(by: { $0.1.lowerBound < $1.1.lowerBound })
        else { return [] }
        let difference = fast.1.lowerBound - slow.1.upperBound
        guard difference > Self.tolerableClockDifference else { return [] }
        return [
            .wrong(
                "the clock of \(fast.0) is at least \(difference) ms ahead of that of \(slow.0): deadlines and timers "
                    + "are off by as much; synchronise the clocks (NTP)")
        ]
    }

    /// Libraries that only some masters have. Each is loaded there when it is first called, so that nothing fails.
    private var libraryFindings: [Finding] {
        let known = masters.compactMap { master in master.libraries.map { (master.address, Set($0)) } }
        let all = known.reduce(into: Set<String>()) { $0.formUnion($1.1) }
        return known.compactMap { address, libraries in
            let missing = all.subtracting(libraries).sorted()
            guard !missing.isEmpty else { return nil }
            return .advice("\(address) lacks \(missing.joined(separator: ", ")), and will load it at the first call")
        }
    }

    private var busFindings: [Finding] {
        let unread = partitions.filter { $0.entries == nil }.map { UInt16($0.number) }
        var findings: [Finding] = []
        if !unread.isEmpty {
            let ranges = SlotMap.text(of: SlotMap.ranges(where: Set(unread).contains))
            findings.append(.wrong("the partitions \(ranges) of the bus cannot be read: their masters do not answer"))
        }
        for partition in partitions {
            guard let entries = partition.entries, entries.setAside > 0 else { continue }
            let place = partitions.count == 1 ? "the bus" : "partition \(partition.number) of the bus"
            findings.append(
                .advice(
                    "\(entries.setAside) entries of \(place) were set aside because no instance could handle them: see "
                        + "the keys dead:*"))
        }
        return findings
    }
}

// MARK: - Sentinel

extension RedisInspection {
    private var sentinelFindings: [Finding] {
        var findings = sentinelAdvice.map { Finding.advice($0) }
        if let first = sentinels.first,
            sentinels.contains(where: { $0.master != first.master || $0.epoch != first.epoch })
        {
            let views = sentinels.map { "\($0.address) says \($0.master), epoch \($0.epoch)" }.joined(separator: "; ")
            findings.append(.wrong("the Sentinels do not agree on the master: \(views)"))
        }
        for sentinel in sentinels {
            if sentinel.flags.contains("s_down") || sentinel.flags.contains("o_down") {
                findings.append(.wrong("the Sentinel \(sentinel.address) cannot reach the master \(sentinel.master)"))
            }
            if let obstacle = sentinel.obstacle {
                findings.append(.wrong("the Sentinel \(sentinel.address) could not replace the master: \(obstacle)"))
            }
        }
        if sentinels.count + silent.count < Self.fewestVoters {
            findings.append(
                .advice("fewer than three Sentinels: when one dies, the others may not be able to replace the master"))
        }
        if masters.isEmpty { findings.append(.wrong("no server is the master")) }
        return findings
    }
}

// MARK: - Cluster

extension RedisInspection {
    private var clusterFindings: [Finding] {
        guard let view else { return [] }
        var findings: [Finding] = []
        let uncovered = uncovered
        if !uncovered.isEmpty {
            findings.append(
                .wrong(
                    "no master serves the slots \(SlotMap.text(of: uncovered)): start their master, or give the slots "
                        + "to another (redis-cli --cluster fix)"))
        }
        for server in servers {
            guard let own = server.view, own.distribution != view.distribution else { continue }
            findings.append(
                .wrong("\(server.address) sees other owners of slots than most: look at its links on the cluster bus"))
        }
        for node in view.nodes { findings += self.findings(of: node) }
        let voters = view.nodes.filter { !$0.slots.isEmpty }.count
        if voters < Self.fewestVoters {
            findings.append(
                .advice("fewer than three masters have slots: when one dies, there is no majority to replace it"))
        }
        return findings
            + unreplicated.map { .advice("the master \($0) has no replica: when it dies, its slots are not served") }
            + moves.map { .advice("\($0): if no reshard is running, end it with redis-cli --cluster fix") }
    }

    private func findings(of node: ClusterView.Node) -> [Finding] {
        let name = node.address?.description ?? node.id
        if node.isFailing, !silent.contains(where: { $0.address == node.address }) {
            return [.wrong("\(name) is marked as failing (\(node.flags.sorted().joined(separator: ",")))")]
        }
        if node.flags.contains("noaddr") || node.flags.contains("handshake") {
            return [
                .advice(
                    "the cluster has no address for the node \(node.id): CLUSTER FORGET it on each server if it is gone"
                )
            ]
        }
        return []
    }

    /// The masters with slots but without a connected replica.
    var unreplicated: [NodeAddress] {
        guard flavour == .cluster else { return [] }
        return masters.filter { $0.connectedReplicas == 0 && !slots(of: $0).isEmpty }.map(\.address)
    }

    /// The slots that are being moved, each as one line.
    var moves: [String] {
        servers.filter(\.isMaster).flatMap { server in
            (server.view?.open ?? []).map { open in
                open.isLeaving
                    ? "slot \(open.slot) is being moved from \(server.address) to \(name(of: open.other))"
                    : "\(server.address) is receiving slot \(open.slot) from \(name(of: open.other))"
            }
        }
    }

    /// The settings that differ from what operations.md advises.
    var settingFindings: [Finding] {
        let advised = [
            (
                "cluster-require-full-coverage", "no",
                "otherwise all masters refuse everything as long as the slots of one are not served"
            ),
            (
                "cluster-allow-pubsubshard-when-down", "yes",
                "otherwise events stop on all masters as long as the slots of one are not served"
            ),
        ]
        return servers.flatMap { server in
            advised.compactMap { name, value, why in
                guard let found = server.settings?[name], found != value else { return nil }
                return .advice("\(server.address) has \(name) \(found): set it to \(value), \(why)")
            }
        }
    }
}
