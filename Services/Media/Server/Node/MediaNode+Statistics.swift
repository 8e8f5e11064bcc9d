internal import MediaLogic
internal import Pacing
internal import SignalingProtocol

/// What participants are told of each other's way to the node.
extension MediaNode {
    /// How often ``tellStatistics()`` is to be called.
    static let statisticsPause = Duration.seconds(2)
    /// In channels where nobody sends, only every so many times: then it is the roster's number that counts.
    static let statisticsOfSilence = 5
    /// Users of a channel that are told of: all participants get the list, so that its size counts squared.
    static let statisticsUsers = 100

    /// Tells the participants of each channel how the others' audio has come since the last call, and the number of the
    /// roster's last change, by which they find out what they have missed.
    func tellStatistics() async {
        statisticsTold += 1
        let isForAll = statisticsTold.isMultiple(of: Self.statisticsOfSilence)
        let uplinks = await surroundings.paths.uplinks(of: participants.values.map(\.id))
        for (key, channel) in channels {
            var told: [MediaUplink] = []
            for member in channel.roster.snapshot where told.count < Self.statisticsUsers {
                if let uplink = uplink(of: member, uplinks) { told.append(uplink) }
            }
            guard isForAll || !told.isEmpty else { continue }
            tell([.stats(told, n: channel.roster.n)], in: key)
        }
        for (pid, participant) in participants {
            if let counts = uplinks[participant.id] { update(pid) { $0.counted = counts } }
        }
    }

    /// - Returns: nil for who is muted, or has sent nothing.
    private func uplink(of member: MediaRoster.Member, _ uplinks: [UInt64: MediaUplinkCounts]) -> MediaUplink? {
        guard !member.flags.contains(.audioMuted), let participant = participants[member.pid],
            let counts = uplinks[participant.id], counts.expected > participant.counted.expected
        else { return nil }
        let expected = counts.expected - participant.counted.expected
        // Late packets of before may have come meanwhile.
        let received = min(expected, counts.received &- participant.counted.received)
        let loss = (100 * (expected - received) + expected / 2) / expected
        return MediaUplink(
            uid: member.uid, delay: Int(counts.roundTrip.wholeMilliseconds / 2), loss: Int(loss))
    }
}
