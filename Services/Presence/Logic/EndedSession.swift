package import SignalingProtocol

/// A session that has ended, from its record in Redis, and the consequences of its end.
package struct EndedSession: Equatable, Sendable {
    /// The session's id.
    package var session: SessionID
    /// The gateway that last held the session.
    package var gateway: GatewayID
    /// The account's numeric id.
    package var uid: UInt32
    /// The reason, as announced to the members of its channel.
    package var reason: SignalingCode
    /// Whether a newer session of the account has replaced it, so that the user did not go offline.
    package var isReplaced: Bool
    /// The number of the change, for the mirror.
    package var change: Int64
    /// When the session ended.
    package var time: RedisTime
    /// The channels that the session was in or still had to leave.
    package var channels: [ChannelName]
    /// The client's `device` field.
    package var device: String
    /// When the session began.
    package var since: RedisTime

    /// Parses the fields of a record, in the order of `end_session` in presence.lua; nil when they have another form.
    package init?(fields: [String]) {
        guard fields.count == 11, let uid = UInt32(fields[2]), let reason = Int(fields[3]).flatMap(SignalingCode.init),
            let change = Int64(fields[5]), let time = RedisTime(text: fields[6]),
            let since = RedisTime(text: fields[10])
        else { return nil }
        session = SessionID(fields[0])
        gateway = GatewayID(fields[1])
        self.uid = uid
        self.reason = reason
        isReplaced = fields[4] == "1"
        self.change = change
        self.time = time
        var channels: [ChannelName] = []
        for channel in ChannelLines.channels(fields[7]) + ChannelLines.channels(fields[8])
        where !channels.contains(channel) {
            channels.append(channel)
        }
        self.channels = channels
        device = fields[9]
        self.since = since
    }

    /// One consequence of the end.
    package enum Consequence: Equatable, Sendable {
        /// Let the session leave a channel.
        case leave(ChannelName, SignalingCode)
        /// End the session's calls.
        case endCalls
        /// Announce in the special channel, and to the mirror, that the user is offline.
        case offline(SignalingCode)
    }

    /// All consequences, in any order; each may be repeated.
    package var consequences: [Consequence] {
        var list = channels.map { Consequence.leave($0, reason) }
        list.append(.endCalls)
        if !isReplaced { list.append(.offline(reason)) }
        return list
    }
}
