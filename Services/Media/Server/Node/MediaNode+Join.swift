internal import BusProtocol
internal import CMediaNode
internal import MediaLogic
internal import ServiceMetrics
internal import SignalingProtocol

extension MediaNode {
    /// Lets a participant in. The same join delivered again gets the same answer.
    func join(_ command: JoinMedia, asker: AskerID) async throws(MediaRefusal) -> MediaJoined {
        let pid = command.participant
        guard joins.begin(pid, now: surroundings.now()) else { return try await joined(pid).get() }
        let answer: RecentJoins.Answer
        do {
            answer = .success(try await admit(command, asker))
        } catch {
            answer = .failure(error)
            if error.isOfABound { surroundings.boundHit(error, command.channel) }
        }
        joins.finish(pid, answer, now: surroundings.now())
        MediaMetrics.shared.count(answer)
        return try answer.get()
    }

    /// The answer of a join that has begun.
    func joined(_ pid: ParticipantID) async -> RecentJoins.Answer {
        await withCheckedContinuation { waiting in
            if !joins.wait(for: pid, waiting) { waiting.resume(returning: .failure(.unknownParticipant)) }
        }
    }

    private func admit(_ command: JoinMedia, _ asker: AskerID) async throws(MediaRefusal) -> MediaJoined {
        guard !isDraining else { throw .draining }
        guard rate.take(now: surroundings.now()) else { throw .rateLimited }
        try checkBounds(command)
        let path = try surroundings.planner.path(for: command.transport, of: command.participant)
        guard let clock = await surroundings.clock() else { throw .nodeUnreachable }
        // Others may have joined meanwhile, or the node may have begun to end.
        guard !isDraining else { throw .draining }
        try checkBounds(command)
        let entered = try enter(command, asker, path.kept, clock: clock)
        return try await open(path, command, entered)
    }

    /// A member that comes again takes no further place.
    private func checkBounds(_ command: JoinMedia) throws(MediaRefusal) {
        let channel = channels[command.channel]
        guard channel != nil || channels.count < bounds.channels else { throw .refused }
        guard participants.count >= bounds.participants else { return }
        let isMember = channel?.roster.snapshot.contains { $0.uid == command.uid && command.uid != 0 } ?? false
        guard isMember else { throw .refused }
    }

    /// A participant that is in the roster, whose path is not open yet.
    private struct Entered {
        var participant: MediaParticipant
        var channel: UInt64
        /// The number in the loop of the participant whose place it has taken.
        var replaced: UInt64?
        var n: Int64
        var users: [MediaUser]
    }

    /// Changes the roster, and tells the others.
    private func enter(
        _ command: JoinMedia, _ asker: AskerID, _ kept: KeptPath, clock: Int64
    ) throws(MediaRefusal) -> Entered {
        let (key, pid) = (command.channel, command.participant)
        var rosterBounds = MediaRoster.Bounds()
        rosterBounds.participants = bounds.members
        var channel =
            channels[key] ?? MediaChannel(id: nextID(), roster: MediaRoster(bounds: rosterBounds, clock: clock))
        let now = milliseconds
        let joined = try channel.roster.join(
            MediaRoster.Member(
                uid: command.uid, pid: pid, call: command.call, flags: command.flags.subtracting(.absent), joined: now))
        keep(channel, key)
        var replaced: UInt64?
        if let old = joined.replaced, let participant = forget(old) {
            replaced = participant.id
            tellEnd(.replaced, of: old, participant)
        }
        let participant = MediaParticipant(
            id: nextID(), channel: key, uid: joined.uid, keyUID: command.uid, asker: asker,
            secret: SecureRandom.hex(bytes: 16), expiry: command.expiry, joined: surroundings.now(), kept: kept)
        keep(participant, pid)
        tell(joined.events, in: key, but: pid)
        return Entered(
            participant: participant, channel: channel.id, replaced: replaced, n: channel.roster.n,
            users: users(of: channel))
    }

    private func open(
        _ path: MediaPath, _ command: JoinMedia, _ entered: Entered
    ) async throws(MediaRefusal) -> MediaJoined {
        let (pid, participant) = (command.participant, entered.participant)
        let settings = path.settings(
            id: participant.id, channel: entered.channel, uid: participant.uid, flags: command.flags)
        let error = await surroundings.paths.open(settings, replacing: entered.replaced)
        // It may have been replaced meanwhile, or the node may have ended it; its path was
        // closed then, or is about to be.
        guard participants[pid]?.id == participant.id else { throw .refused }
        guard error == 0 else {
            MediaMetrics.shared.pathsFailed.increment()
            end(pid, .closed)
            throw .refused
        }
        return MediaJoined(
            uid: participant.uid, secret: participant.secret, epoch: 1, n: entered.n, users: entered.users,
            transport: path.answer)
    }
}
