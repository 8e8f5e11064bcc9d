package import BusProtocol
package import Pacing
package import SignalingProtocol

/// What one client connection does with media: whether it was opened for it without a session, its participants, its
/// calls that are not answered, and how often it has joined.
package struct MediaSocket: Sendable {
    /// Media calls without an answer.
    package static let calls = 16
    /// Mutes, renewals, resumes and restarts in a second, after ``changesAtOnce``: all others in
    /// the channel are told of a mute.
    package static let changesPerSecond = 5
    package static let changesAtOnce = 20
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

    /// A participant that is bound to this connection.
    package struct Participant: Equatable, Sendable {
        package var node: MediaNodeID
        package var channel: MediaChannelName
        /// The uid that its keys are for.
        package var keyUID: UInt32

        package init(node: MediaNodeID, channel: MediaChannelName, keyUID: UInt32) {
            self.node = node
            self.channel = channel
            self.keyUID = keyUID
        }
    }

    private enum State {
        /// The node was asked. What happens meanwhile waits.
        case asked(held: [MediaPublication])
        case bound(Participant)
    }

    package private(set) var hello = Hello.none
    /// What the calls on a socket that serves media alone must contain; nil before its hello is answered.
    package private(set) var line: String?
    private var known: [ParticipantID: State] = [:]
    private var unanswered = 0
    private var joinTimes: [LocalTime] = []
    private var changes = TokenBucket(perSecond: changesPerSecond, burst: changesAtOnce)
    /// Since when there has been no participant.
    private var idleSince: LocalTime

    package init(now: LocalTime) { idleSince = now }

    /// Takes a `media_hello`.
    package mutating func greets(_ app: AppID) { hello = .asking(app) }

    /// Takes the app's settings, which the hello waits for.
    /// - Parameter line: see ``line``.
    package mutating func appIsKnown(line: String) {
        guard case .asking(let app) = hello else { return }
        hello = .open(app)
        self.line = line
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
        return isFull ? .refused : nil
    }

    private var isFull: Bool { known.count >= Self.participants }

    /// Counts another call about a participant, but for leaves, against the rate.
    package mutating func mayChange(now: LocalTime) -> MediaRefusal? { changes.take(now: now) ? nil : .rateLimited }

    /// A node is asked to let a participant in, or to bind one to this connection.
    package mutating func asked(for participant: ParticipantID) { known[participant] = .asked(held: []) }

    /// The node has done so.
    /// - Returns: what has happened meanwhile, to be told after the answer.
    package mutating func bound(_ participant: ParticipantID, _ details: Participant) -> [MediaPublication] {
        guard case .asked(let held) = known[participant] else { return [] }
        known[participant] = .bound(details)
        return held
    }

    /// The participant is over, was not let in, or is bound to another connection.
    package mutating func ended(_ participant: ParticipantID, now: LocalTime) {
        guard known.removeValue(forKey: participant) != nil else { return }
        if known.isEmpty { idleSince = now }
    }

    /// Counts the request to bind a participant to this connection against the rate.
    package mutating func mayBind(_ participant: ParticipantID, now: LocalTime) -> MediaRefusal? {
        mayChange(now: now) ?? (isFull && known[participant] == nil ? .refused : nil)
    }

    /// Whether it is bound to this connection, or a node is asked for that.
    package func knows(_ participant: ParticipantID) -> Bool { known[participant] != nil }

    /// A participant that is bound to this connection; nil for others.
    package func details(of participant: ParticipantID, in channel: MediaChannelName) -> Participant? {
        guard case .bound(let details) = known[participant], details.channel == channel else { return nil }
        return details
    }

    // MARK: - Events

    /// Takes an event that concerns a participant.
    /// - Returns: whether to tell the client now.
    package mutating func received(_ publication: MediaPublication, for participant: ParticipantID) -> Bool {
        switch known[participant] {
        case nil: return false
        case .bound: return true
        case .asked(var held):
            // Beyond the bound the client finds a gap in the numbers, and takes the roster.
            if held.count < Self.heldEvents { held.append(publication) }
            known[participant] = .asked(held: held)
            return false
        }
    }
}
