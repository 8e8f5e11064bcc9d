internal import BusProtocol
internal import MediaLogic
internal import SignalingProtocol
internal import SignalingTokens

/// Calls about a participant.
extension MediaNode {
    /// Changes what a participant sends, and tells the others.
    func mute(_ command: MuteMedia, asker: AskerID) async throws(MediaRefusal) -> MediaMuted {
        let (pid, change) = (command.participant, command.change)
        let participant = try own(pid, in: command.channel, asker)
        guard var channel = channels[command.channel] else { throw .unknownParticipant }
        let event = try channel.roster.mute(
            pid: pid, audio: change.audio, video: change.video, enabled: change.enabled)
        guard let event else { return MediaMuted(n: nil) }
        keep(channel, command.channel)
        tell([event], in: command.channel, but: pid)
        let n = channel.roster.n
        await surroundings.paths.allow(participant.id, allowed(pid))
        return MediaMuted(n: n)
    }

    /// Binds a participant to the gateway that asks.
    func resume(_ command: ResumeMedia, asker: AskerID) throws(MediaRefusal) -> MediaResumed {
        let participant = try secured(command.participant, in: command.channel, command.secret)
        guard let channel = channels[command.channel] else { throw .unknownParticipant }
        update(command.participant) { $0.asker = asker }
        return MediaResumed(keyUID: participant.keyUID, n: channel.roster.n, users: users(of: channel))
    }

    /// Begins a participant's path anew, and binds it to the gateway that asks. The same command
    /// delivered again gets the same answer.
    func restart(
        _ command: RestartMedia, _ id: CommandID, asker: AskerID
    ) async throws(MediaRefusal) -> MediaRestarted {
        let pid = command.participant
        let participant = try secured(pid, in: command.channel, command.secret)
        if let last = participant.lastRestart, last.command == id { return last.answer }
        guard rate.take(now: surroundings.now()) else { throw .rateLimited }
        let path = try surroundings.planner.path(for: command.transport, of: pid, keeping: participant.kept)
        let answer = MediaRestarted(keyUID: participant.keyUID, transport: path.answer)
        // Remembered before the loop has done it, because the command may be delivered again meanwhile.
        update(pid) { $0.lastRestart = (id, answer) }
        guard await surroundings.paths.restart(participant.id, path.restart) == 0 else {
            update(pid) { $0.lastRestart = nil }
            // The participant may have ended meanwhile.
            throw participants[pid] == nil ? .unknownParticipant : .refused
        }
        update(pid) { $0.asker = asker }
        return answer
    }

    /// Lets a participant go on with a new key.
    func renew(_ command: RenewMedia, asker: AskerID) async throws(MediaRefusal) {
        let participant = try own(command.participant, in: command.channel, asker)
        update(command.participant) { participant in
            participant.expiry = command.expiry
            participant.keyEnded = nil
        }
        if participant.keyEnded != nil {
            await surroundings.paths.allow(participant.id, allowed(command.participant))
        }
    }

    // Who may ask

    /// A participant of the gateway that asks.
    func own(
        _ pid: ParticipantID, in key: MediaChannelKey, _ asker: AskerID
    ) throws(MediaRefusal) -> MediaParticipant {
        guard let participant = participants[pid], participant.channel == key, participant.asker == asker else {
            throw .unknownParticipant
        }
        return participant
    }

    /// A participant whose secret the client knows.
    private func secured(
        _ pid: ParticipantID, in key: MediaChannelKey, _ secret: String
    ) throws(MediaRefusal) -> MediaParticipant {
        guard let participant = participants[pid], participant.channel == key,
            ConstantTime.equal(participant.secret, secret)
        else { throw .unknownParticipant }
        return participant
    }

    /// What the loop is to let a participant do.
    func allowed(_ pid: ParticipantID) -> UInt32 {
        guard let participant = participants[pid],
            let member = channels[participant.channel]?.roster.member(pid: pid)
        else { return 0 }
        return participant.allowed(member.flags)
    }
}
