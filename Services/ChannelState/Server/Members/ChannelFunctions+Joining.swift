internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterState
internal import MessageStore
internal import RedisClient
internal import SignalingProtocol

/// Joining a channel, with everything that the reply contains.
extension ChannelFunctions {
    struct Joined: Equatable {
        enum Outcome: String {
            /// The account is a new member.
            case joined
            /// The account was a member by an older session, which has ended.
            case replaced
            /// This session was a member already.
            case present
        }

        var outcome: Outcome
        var answer: ChannelJoined
        var count: Int
        /// The number of the change, for the mirror: Redis' clock in microseconds, or slightly more.
        var change: Int64
        var countersDue: CounterDueTimes
        /// Whether it is the first join of the channel.
        var createsChannel: Bool
        /// Whether anyone may receive the app's announcements of joins.
        var hasAudience = false
    }

    /// The number of attempts to read a join and its attributes as of the same version; each fails only if a change
    /// comes in between.
    private static let joinAttempts = 20

    /// - Parameter hasRestrictions: whether the channel may have some, which its state need not say yet.
    /// - Throws: `SignalingError` with reason `timeout` when the deadline has passed, and `banned` when the app keeps
    ///   the user out: nothing was done.
    func join(
        _ actor: Actor, _ channel: ChannelKey, _ id: CommandID, deadline: RedisTime?, hasRestrictions: Bool = false
    ) async throws(SignalingError) -> Joined {
        let keys = ChannelKeys(channel)
        // Redis usually runs a pipeline without interruption. If another client's change comes in between, the same
        // join is sent again; it takes effect once and returns the new sequence number.
        for _ in 0..<Self.joinAttempts {
            let asked = try await redis.answers(
                to: [
                    .function(
                        "channel_join", tag: keys.tag, .string(id.rawValue), .deadline(deadline),
                        .string(actor.user.account.rawValue), .int(actor.uid), .string(actor.session.rawValue),
                        channel.name.special == nil ? 0 : 1, hasRestrictions ? 1 : 0),
                    RedisCommand("HGETALL", key: keys.attributes), RedisCommand("GET", key: keys.attributesVersion),
                ], thenAsking: [ServerAnnouncement.memberAudience(in: channel.app)])
            let replies = asked.answers
            var parts = try FunctionReply(replies[0])
            var joined = try Self.joined(&parts)
            guard try parts.text() == replies[2].string ?? "" else { continue }
            guard let cached = replies[1].array else { throw .unreadableAnswer }
            let attributes = try Self.attributes(cached[...]) + Self.attributes(parts.remaining)
            joined.answer.attributes = attributes.sorted { $0.name < $1.name }
            joined.hasAudience = ServerAnnouncement.mayBeHeard(asked.found[0])
            return joined
        }
        throw .unreadableAnswer
    }

    /// Parses the reply to `channel_join` as far as the version of the attributes.
    private static func joined(_ parts: inout FunctionReply) throws(SignalingError) -> Joined {
        guard let outcome = Joined.Outcome(rawValue: try parts.text()) else { throw .unreadableAnswer }
        let sequence = try parts.int64()
        let (count, change) = (try parts.int(), try parts.int64())
        let countersDue = Self.countersDue(members: try parts.time(), total: try parts.time())
        let latest = LatestMembers(text: try parts.bytes())
        let answer = ChannelJoined(sequence: sequence, id: try parts.int64(), members: latest, attributes: [])
        return Joined(
            outcome: outcome, answer: answer, count: count, change: change, countersDue: countersDue,
            createsChannel: try parts.text() == "1")
    }

    /// Parses pairs of name and value.
    static func attributes(_ parts: ArraySlice<RedisValue>) throws(SignalingError) -> [Attribute] {
        var attributes: [Attribute] = []
        attributes.reserveCapacity(parts.count / 2)
        for index in stride(from: parts.startIndex, to: parts.endIndex - 1, by: 2) {
            guard let name = parts[index].string, let value = parts[index + 1].string else { throw .unreadableAnswer }
            attributes.append(Attribute(name: try AttributeName(name), value: value))
        }
        return attributes
    }
}
