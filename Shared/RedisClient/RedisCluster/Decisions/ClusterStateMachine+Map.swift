internal import ClusterState
internal import NIOCore

/// The map of slots.
extension ClusterStateMachine {
    /// The map has been read; see ``SlotMap/init(reply:asked:)`` and ``SentinelReplies``.
    mutating func mapRead(_ number: UInt64, _ map: SlotMap, now: NIODeadline) -> [ClusterAction] {
        guard reading.current?.number == number else { return [] }
        // A node that was reset or not yet met knows no cluster.
        guard !map.masters.isEmpty else { return mapFailed(number, .noMasters, now: now) }
        lastReadFailure = nil
        let actions = apply(map, now)
        _ = reading.end(number, isGood: isHealthy, now, using: &random)
        wakeForReading()
        return actions
    }

    /// The map could not be read.
    mutating func mapFailed(_ number: UInt64, _ error: RedisError, now: NIODeadline) -> [ClusterAction] {
        guard reading.end(number, isGood: false, now, using: &random) else { return [] }
        lastReadFailure = error
        wakeForReading()
        return []
    }

    /// Has the map read soon.
    mutating func wantMap(_ now: NIODeadline) {
        reading.want(now, using: &random)
        wakeForReading()
    }

    private mutating func wakeForReading() {
        if let time = reading.wakeAt { wake(at: time) }
    }

    mutating func read(_ now: NIODeadline, _ actions: inout [ClusterAction]) {
        let source = chooseSource()
        readingFrom = source
        actions.append(.readMap(reading.begin(now), from: source))
    }

    /// A random master that answers; never the one that failed last, if there is another. The seeds are asked too while
    /// anything is wrong, because what the known nodes see of the cluster may be outdated as well.
    private mutating func chooseSource() -> MapSource {
        var sources: [MapSource] = []
        if settings.flavour == .cluster {
            for master in map?.masters ?? [] {
                guard let number = nodes.number(of: master.address), nodes.isReady(number) else { continue }
                sources.append(.node(number))
            }
        }
        if !isHealthy || sources.isEmpty { sources += settings.seeds.map { .seed($0) } }
        if sources.count > 1, lastReadFailure != nil, let last = readingFrom { sources.removeAll { $0 == last } }
        return sources[Int.random(in: sources.indices, using: &random)]
    }

    /// Takes over a map: opens and drops nodes, closes the slots that moved while commands of theirs are in
    /// flight, and tries the closed ones.
    mutating func apply(_ new: SlotMap, _ now: NIODeadline) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        let changes = new.changes(since: map ?? SlotMap())
        map = new
        if !changes.isEmpty { endSuspension() }
        // Opened before others are dropped, so that an owner never has the number of the owner before it.
        var numbers: [NodeNumber] = []
        for master in new.masters { numbers.append(open(master.address, &actions) ?? Self.nobody) }
        for range in changes.moved {
            for slot in range.lowerBound...range.upperBound where index(slot) == slot { setOwner(of: slot, numbers) }
        }
        dropIdle(now, &actions)
        if !changes.isEmpty { actions.append(.mapChanged(changes)) }
        advanceAll(now, &actions)
        return actions
    }

    private mutating func setOwner(of slot: UInt16, _ numbers: [NodeNumber]) {
        let owner = map.map { $0.owners[Int(slot)] } ?? SlotMap.unowned
        let number = owner == SlotMap.unowned ? Self.nobody : numbers[Int(owner)]
        guard owners[Int(slot)] != number else { return }
        owners[Int(slot)] = number
        holds[slot]?.retryAt = nil
        guard inFlight[Int(slot)] > 0, holds[slot]?.stage != .probing else { return }
        holds[slot, default: SlotHold(stage: .settling)].stage = .settling
    }

    /// Drops the nodes that own nothing: at once a node that does not answer, and any with one master, because a former
    /// master that Sentinel has replaced goes on to take writes. A node of a cluster that answers is given a moment, in
    /// which it refuses what is in flight, so that no outcome is unknown; one that ASK has named lately is kept.
    mutating func dropIdle(_ now: NIODeadline, _ actions: inout [ClusterAction]) {
        let owning = Set(map?.masters.map(\.address) ?? [])
        nextDrop = nil
        for number in nodes.all {
            guard let node = nodes[number] else { continue }
            guard !owning.contains(node.address) else {
                nodes.keep(number, until: nil)
                continue
            }
            if node.keptUntil == nil, node.link == .up, settings.flavour == .cluster {
                nodes.keep(number, until: now + settings.leaveTime)
            }
            if let until = nodes[number]?.keptUntil, until > now {
                nextDrop = nextDrop.map { min($0, until) } ?? until
            } else {
                nodes.remove(number)
                actions.append(.drop(number))
            }
        }
        if let nextDrop { wake(at: nextDrop) }
    }

    /// Whether all slots are covered and all masters answer.
    var isHealthy: Bool { map.map { $0.isComplete && away($0).isEmpty } ?? false }

    /// How much of Redis can be used.
    var readiness: ClusterReadiness {
        guard let map else {
            return ClusterReadiness(masters: 0, away: [], uncovered: [], lastFailure: lastReadFailure)
        }
        return ClusterReadiness(
            masters: map.masters.count, away: away(map), uncovered: map.isComplete ? [] : map.uncovered,
            lastFailure: lastReadFailure)
    }

    private func away(_ map: SlotMap) -> [NodeAddress] {
        map.masters.map(\.address).filter { nodes.number(of: $0).map { !nodes.isReady($0) } ?? true }
    }
}

extension RedisError {
    fileprivate static let noMasters = RedisError(code: .shape, message: "the server knows no master that owns a slot")
}
