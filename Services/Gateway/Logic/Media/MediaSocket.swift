package import SignalingProtocol

/// What one client connection does with media: whether it was opened for it without a session, its participants, its calls that are
/// not answered, and how often it has joined.
package struct MediaSocket: Sendable {
    /// Media calls without an answer.
    package static let calls = 16
    /// Participants at a time.
    package static let participants = 16
    /// Joins within ``joinWindow``.
    package static let joins = 5
    package static let joinWindow = LocalTime.Span(.seconds(10))
    /// Events of one participant that wait for the answer to its join.
    package static let heldEvents = 64
    /// How long a socket without a session and without a participant is kept.
    package static let idleTime = LocalTime.Span(.seconds(60))

    /// Whether the socket serves media alone.
    package enum Hello: Equatable, Sendable {
        /// No `media_hello` came: media calls are those of the connection's session, if there is one. Goes to `asking`.
        case none
        /// The app's settings are asked for. Goes to `open`, or the connection ends.
        case asking(AppID)
        case open(AppID)
    }

    private enum Participant {
        /// The node was asked. What happens meanwhile waits.
        case joining(MediaNodeID, MediaChannelName, held: [MediaPublication])
        case joined(MediaNodeID, MediaChannelName)
    }

    package private(set) var hello = Hello.none
    private var known: [ParticipantID: Participant] = [:]
    private var unanswered = 0
    private var joinTimes: [LocalTime] = []
    /// Since when there has been no participant.
    private var idleSince: LocalTime

    package init(now: LocalTime) { idleSince = now }

    /// Takes a `media_hello`.
    package mutating func greets(_ app: AppID) { hello = .asking(app) }

    /// Takes the app's settings, which the hello waits for.
    package mutating func appIsKnown() {
        if case .asking(let app) = hello { hello = .open(app) }
    }

    /// Whether a socket without a session has been without a participant for too long.
    package func isIdle(now: LocalTime) -> Bool {
        hello != .none && known.isEmpty && now - idleSince > Self.idleTime
    }

    /// All participants, to be unregistered when the connection has ended.
    package var all: [ParticipantID] { Array(known.keys) }

    // MARK: - Calls

    /// Counts a call; ``answered()`` must follow.
    /// - Returns: the refusal, if too many are unanswered; the call is not counted then.
    package mutating func begins() -> MediaRefusal? {
        guard unanswered < Self.calls else { return .rateLimited }
        unanswered += 1
        return nil
    }

    /// A call that was counted is answered.
    package mutating func answered() { unanswered -= 1 }

    /// Counts a join against the rate.
    package mutating func mayJoin(now: LocalTime) -> MediaRefusal? {
        joinTimes.removeAll { now - $0 >= Self.joinWindow }
        guard joinTimes.count < Self.joins else { return .rateLimited }
        joinTimes.append(now)
        return known.count < Self.participants ? nil : .refused
    }

    /// A node is asked to let a participant in.
    package mutating func asked(_ node: MediaNodeID, toLetIn participant: ParticipantID, to channel: MediaChannelName) {
        known[participant] = .joining(node, channel, held: [])
    }

    /// The node has let it in.
    /// - Returns: what has happened meanwhile, to be told after the answer.
    package mutating func joined(_ participant: ParticipantID) -> [MediaPublication] {
        guard case .joining(let node, let channel, let held) = known[participant] else { return [] }
        known[participant] = .joined(node, channel)
        return held
    }

    /// The participant is over, or was not let in.
    package mutating func ended(_ participant: ParticipantID, now: LocalTime) {
        known[participant] = nil
        if known.isEmpty { idleSince = now }
    }

    /// The node of a participant that is to leave.
    package func node(
        of participant: ParticipantID, in channel: MediaChannelName
    ) throws(MediaRefusal) -> MediaNodeID {
        guard case .joined(let node, channel) = known[participant] else { throw .unknownParticipant }
        return node
    }

    // MARK: - Events

    /// Takes an event that concerns a participant.
    /// - Returns: whether to tell the client now.
    package mutating func received(_ publication: MediaPublication, for participant: ParticipantID) -> Bool {
        switch known[participant] {
        case nil: return false
        case .joined: return true
        case .joining(let node, let channel, var held):
            // Beyond the bound the client finds a gap in the numbers, and takes the roster.
            if held.count < Self.heldEvents { held.append(publication) }
            known[participant] = .joining(node, channel, held: held)
            return false
        }
    }
}
