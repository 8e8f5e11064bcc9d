package import SignalingProtocol

/// A session that is over, as its record in Redis tells, and what follows from it.
package struct EndedSession: Equatable, Sendable {
    /// Which session.
    package var session: SessionID
    /// The gateway that held it last.
    package var gateway: GatewayID
    /// The account's number.
    package var uid: UInt32
    /// Why, as members of its channel are told.
    package var reason: SignalingCode
    /// Whether a newer session of the account took its place, so that the user did not go offline.
    package var isReplaced: Bool
    /// The number of the change, for the mirror.
    package var change: Int64
    /// When, on the Redis clock (ms).
    package var time: Int64
    /// The channels that it was in or was leaving.
    package var channels: [ChannelName]
    /// The client's `device` field.
    package var device: String
    /// When it began, on the Redis clock (ms).
    package var since: Int64

    /// Reads the fields of a record in the order of `end_session` in presence.lua; nil for another shape.
    package init?(fields: [String]) {
        guard fields.count == 11, let uid = UInt32(fields[2]), let reason = Int(fields[3]).flatMap(SignalingCode.init),
            let change = Int64(fields[5]), let time = Int64(fields[6]),
            let since = Int64(fields[10])
        else { return nil }
        session = SessionID(fields[0])
        gateway = GatewayID(fields[1])
        self.uid = uid
        self.reason = reason
        isReplaced = fields[4] == "1"
        self.change = change
        self.time = time
        var channels: [ChannelName] = []
        for text in [fields[7]] + fields[8].split(separator: "\n").map(String.init) {
            if let channel = try? ChannelName(text), !channels.contains(channel) { channels.append(channel) }
        }
        self.channels = channels
        device = fields[9]
        self.since = since
    }

    /// One thing that follows from the end.
    package enum Consequence: Equatable, Sendable {
        /// The gateway's set of sessions no longer names it.
        case forgetRoute
        /// It leaves a channel.
        case leave(ChannelName, SignalingCode)
        /// Its calls end.
        case endCalls
        /// The special channel and the mirror hear that the user is offline.
        case offline(SignalingCode)
    }

    /// All that follows, in any order; each may be carried out again.
    package var consequences: [Consequence] {
        var list: [Consequence] = [.forgetRoute]
        list += channels.map { .leave($0, reason) }
        list.append(.endCalls)
        if !isReplaced { list.append(.offline(reason)) }
        return list
    }
}
