internal import BusProtocol
internal import MediaLogic
internal import Pacing
internal import ServiceKit
internal import SignalingProtocol

/// The participants and channels of a node: who is in, and who is told what. Paths are opened and closed
/// by the loop, which it only asks.
actor MediaNode {
    /// What the node is given.
    struct Surroundings: Sendable {
        var paths: any MediaPaths
        var planner: MediaPathPlanner
        /// Publishes an event to the process that has the participants. Publications leave in the order of the calls.
        var publish: @Sendable (AskerID, MediaPublication) -> Void
        /// The Redis clock in microseconds; nil while it is not known.
        var clock: @Sendable () async -> Int64?
        /// Tells that a bound was hit, in this channel.
        var boundHit: @Sendable (MediaRefusal, MediaChannelKey) -> Void = { _, _ in }
        var now: @Sendable () -> ContinuousClock.Instant = { .now }
        /// The time of day in Unix seconds, by which keys end.
        var unixTime: @Sendable () -> Int64 = { WallClock.seconds }
    }

    let bounds: MediaNodeBounds
    let surroundings: Surroundings
    private let began: ContinuousClock.Instant

    private(set) var channels: [MediaChannelKey: MediaChannel] = [:]
    private(set) var participants: [ParticipantID: MediaParticipant] = [:]
    /// The participants by their numbers in the loop.
    private var pids: [UInt64: ParticipantID] = [:]
    private var lastID: UInt64 = 0
    private(set) var isDraining = false
    var joins = RecentJoins()
    /// How often the participants' statistics have been told.
    var statisticsTold = 0
    var rate: JoinRate

    init(bounds: MediaNodeBounds, _ surroundings: Surroundings) {
        self.bounds = bounds
        self.surroundings = surroundings
        rate = JoinRate(perSecond: bounds.joinsPerSecond)
        began = surroundings.now()
    }

    /// 0 to 1000: the greatest part of any bound that is used.
    var load: Int {
        max(1000 * participants.count / bounds.participants, 1000 * channels.count / bounds.channels)
    }

    /// Milliseconds of a steady clock, as rosters count them.
    var milliseconds: Int64 { began.duration(to: surroundings.now()).wholeMilliseconds }

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func keep(_ channel: MediaChannel, _ key: MediaChannelKey) { channels[key] = channel }

    func keep(_ participant: MediaParticipant, _ pid: ParticipantID) {
        participants[pid] = participant
        pids[participant.id] = pid
        channels[participant.channel]?.insert(pid, of: participant.asker)
    }

    /// Changes what the node knows of a participant.
    func update(_ pid: ParticipantID, _ change: (inout MediaParticipant) -> Void) {
        guard let old = participants[pid] else { return }
        var new = old
        change(&new)
        participants[pid] = new
        guard new.asker != old.asker else { return }
        channels[old.channel]?.remove(pid, of: old.asker)
        channels[new.channel]?.insert(pid, of: new.asker)
    }

    /// A channel's members, oldest first.
    func users(of channel: MediaChannel) -> [MediaUser] {
        let now = milliseconds
        return channel.roster.snapshot.map { MediaUser(uid: $0.uid, flags: $0.flags, age: now - $0.joined) }
    }

    /// Removes a participant who is no member of its channel's roster any more. A channel without members is given up.
    @discardableResult
    func forget(_ pid: ParticipantID) -> MediaParticipant? {
        guard let participant = participants.removeValue(forKey: pid) else { return nil }
        pids[participant.id] = nil
        channels[participant.channel]?.remove(pid, of: participant.asker)
        if channels[participant.channel]?.roster.count == 0 { channels[participant.channel] = nil }
        return participant
    }

    // Events

    /// Tells all participants of a channel but one.
    func tell(_ events: [MediaEvent], in key: MediaChannelKey, but pid: ParticipantID? = nil) {
        guard let channel = channels[key] else { return }
        for event in events {
            for (asker, all) in channel.participants {
                let told = all.filter { $0 != pid }.sorted()
                guard !told.isEmpty else { continue }
                surroundings.publish(
                    asker, MediaPublication(participants: told, channel: key.name, event: event))
            }
        }
    }

    /// Tells a participant that it is over.
    func tellEnd(_ reason: MediaEndReason, of pid: ParticipantID, _ participant: MediaParticipant) {
        surroundings.publish(
            participant.asker,
            MediaPublication(
                participants: [pid], isLast: true, channel: participant.channel.name, event: .gone(reason)))
    }

    // Ends

    /// Ends a participant, and tells the others.
    @discardableResult
    func end(_ pid: ParticipantID, _ reason: MediaLeaveReason) -> MediaParticipant? {
        guard let key = participants[pid]?.channel else { return nil }
        let event = channels[key]?.roster.leave(pid: pid, reason: reason)
        let participant = forget(pid)
        if let event { tell([event], in: key) }
        return participant
    }

    /// Ends a participant that wants to leave.
    /// - Returns: how long it was there, and what it has sent and received.
    /// - Throws: ``MediaRefusal/unknownParticipant`` when it is not in that channel, or bound to another gateway.
    func leave(_ command: LeaveMedia, asker: AskerID) async throws(MediaRefusal) -> MediaLeft {
        // Commands overtake each other: a join that is under way is awaited, so that nobody stays who has left.
        if joins.isUnderway(command.participant) { _ = await joined(command.participant) }
        _ = try own(command.participant, in: command.channel, asker)
        guard let participant = end(command.participant, .quit) else { throw .unknownParticipant }
        let duration = participant.joined.duration(to: surroundings.now())
        let traffic = await surroundings.paths.close(participant.id)
        return MediaLeft(
            duration: duration.wholeMilliseconds, bytes: Int64(clamping: traffic.bytesReceived + traffic.bytesSent))
    }

    /// Takes what the loop tells.
    func handle(_ event: MediaTransportEvent) async {
        // Who has left meanwhile is unknown.
        guard let pid = pids[event.id], let participant = end(pid, .dropped) else { return }
        switch event.kind {
        case .dropped: tellEnd(.closed, of: pid, participant)
        case .limit:
            surroundings.boundHit(.rateLimited, participant.channel)
            tellEnd(.limit, of: pid, participant)
        }
        _ = await surroundings.paths.close(event.id)
    }

    // The node's end

    /// From now on joins are refused.
    func startDraining() { isDraining = true }

    /// Ends all participants.
    func closeAll() async {
        let ended = participants.values.map(\.id)
        for (key, channel) in channels {
            for (asker, all) in channel.participants {
                surroundings.publish(
                    asker,
                    MediaPublication(
                        participants: all.sorted(), isLast: true, channel: key.name, event: .gone(.closed)))
            }
        }
        channels = [:]
        participants = [:]
        pids = [:]
        for id in ended { _ = await surroundings.paths.close(id) }
    }
}
