internal import DequeModule
internal import SignalingProtocol
internal import SignalingWire

/// The calls without an answer: kept across reconnects, sent in order, each completed once.
struct CallTable {
    /// The largest number of calls that wait for answers on one connection. Gateways
    /// disconnect a client at twice as many.
    static let flightBound = 512
    /// Messages per second while a backlog is being sent; the gateway's limit is 60.
    static let pace = 55.0
    private static let burst = 4.0

    struct Call: Equatable {
        /// The call's number on the wire. Calls are sent in the order of their numbers.
        var id: Int64
        /// Identifies the app's call that gets the answer; nil for the client's own calls.
        var ticket: Int64?
        var function: String
        var arguments: [JSONMember]
        var deadline: Int64
        /// How often the call was sent.
        var attempts = 0
        var isInFlight = false

        var isMessage: Bool { function == "user_sendmsg" || function == "channel_sendmsg" }

        /// Whether the error leaves open if the call took effect, and the call can be sent again because the cluster
        /// recognises a repeated message by its id.
        func isUndecided(by error: SignalingError) -> Bool {
            isMessage && (error.reason == .unavailable || error.reason == .timeout)
        }

        /// Whether the call may be sent again when its answer was lost. DTMF digits have no id by which the cluster
        /// could recognise them, and sending them twice is worse than not at all.
        var isRepeatable: Bool { function != "voip_invite_msg" }

        /// The error of a call that was not answered in time. Source: Signaling API, "Error codes".
        var timeout: SignalingError {
            switch function {
            case "user_sendmsg", "channel_sendmsg": .timeout(.messageTimeout)
            case "channel_query_num": .timeout(.userNumberTimeout)
            case "voip_invite": .timeout(.inviteNetwork)
            default: .timeout()
            }
        }

        /// Whether this error of a repeated call means that the first attempt took effect.
        func isSettled(by error: SignalingError) -> Bool {
            guard attempts > 1 else { return false }
            switch function {
            case "voip_invite": return error.code == .inviteReinvite
            case "channel_leave": return error.reason == .notMember
            default: return false
            }
        }
    }

    private var calls: [Int64: Call] = [:]
    /// The highest number given to a call.
    private(set) var lastID: Int64 = 0
    private var waiting: Deque<Int64> = []
    private var inFlight = 0
    private var earliestDeadline = Int64.max
    /// The end of the time in which messages are paced, because a backlog is or recently was being sent.
    private var pacedUntil = Int64.min
    private var tokens = burst
    private var tokensAt: Int64 = 0
    /// Nothing is sent before this time. A message that the cluster could not store waits until then and is sent first,
    /// so that messages stay in order.
    private var heldUntil = Int64.min

    var count: Int { calls.count }
    var isEmpty: Bool { calls.isEmpty }
    /// Whether waiting calls are held back only by the pace.
    var isBacklogged: Bool { !waiting.isEmpty && inFlight < Self.flightBound }

    /// Returns a number that no call has had yet.
    mutating func nextID() -> Int64 {
        lastID += 1
        return lastID
    }

    /// Adds a call at the end.
    mutating func add(_ call: Call) {
        calls[call.id] = call
        waiting.append(call.id)
        earliestDeadline = min(earliestDeadline, call.deadline)
    }

    /// Removes and returns the calls to send now, in order.
    mutating func takeSendable(now: Int64) -> [Call] {
        guard now >= heldUntil else { return [] }
        var taken: [Call] = []
        let isPaced = now < pacedUntil
        refill(now)
        while inFlight < Self.flightBound, let id = waiting.first {
            guard var call = calls[id] else {
                waiting.removeFirst()
                continue
            }
            if call.isMessage, isPaced {
                guard tokens >= 1 else {
                    pacedUntil = now + 1000
                    break
                }
                tokens -= 1
            }
            waiting.removeFirst()
            call.attempts += 1
            call.isInFlight = true
            calls[id] = call
            inFlight += 1
            taken.append(call)
        }
        return taken
    }

    /// Removes a call that was answered, was cancelled or timed out.
    mutating func remove(_ id: Int64) -> Call? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if call.isInFlight { inFlight -= 1 }
        return call
    }

    /// Removes a call that the app has cancelled.
    mutating func remove(ticket: Int64) -> Call? {
        calls.values.first { $0.ticket == ticket }.flatMap { remove($0.id) }
    }

    /// Puts a call back to be sent again, before all calls that were not sent yet. Until `time` nothing is sent.
    mutating func repeatCall(_ call: Call, at time: Int64) {
        var call = call
        call.isInFlight = false
        calls[call.id] = call
        waiting.insert(call.id, at: waiting.firstIndex { $0 > call.id } ?? waiting.endIndex)
        heldUntil = max(heldUntil, time)
    }

    /// Called when the connection is lost: unanswered calls are sent again on the next one, in order.
    /// - Returns: the calls that are given up, because they must not be sent twice.
    mutating func connectionLost() -> [Call] {
        let unrepeatable = calls.values.filter { $0.isInFlight && !$0.isRepeatable }.sorted { $0.id < $1.id }
        for call in unrepeatable { _ = remove(call.id) }
        for id in calls.keys { calls[id]?.isInFlight = false }
        waiting = Deque(calls.keys.sorted())
        inFlight = 0
        heldUntil = .min
        return unrepeatable
    }

    /// Called when the session is lost, and with it the cluster's record of which calls took effect.
    /// - Returns: the calls that were sent but not answered; they are given up.
    mutating func sessionLost() -> [Call] {
        let sent = calls.values.filter { $0.attempts > 0 }.sorted { $0.id < $1.id }
        for call in sent { _ = remove(call.id) }
        waiting = Deque(calls.keys.sorted())
        inFlight = 0
        return sent
    }

    /// Called when a new connection is established: waiting calls are then sent at the pace.
    mutating func connectionRestored(now: Int64) {
        pacedUntil = now + 1000
        tokens = Self.burst
        tokensAt = now
    }

    /// Removes and returns the calls that have timed out, in order.
    mutating func takeExpired(now: Int64) -> [Call] {
        guard now >= earliestDeadline else { return [] }
        let expired = calls.values.filter { $0.deadline <= now }.sorted { $0.id < $1.id }
        for call in expired { _ = remove(call.id) }
        earliestDeadline = calls.values.map(\.deadline).min() ?? .max
        return expired
    }

    /// Removes and returns all calls, in order.
    mutating func takeAll() -> [Call] {
        let all = calls.values.sorted { $0.id < $1.id }
        self = CallTable()
        return all
    }

    private mutating func refill(_ now: Int64) {
        tokens = min(Self.burst, tokens + Double(max(now - tokensAt, 0)) * Self.pace / 1000)
        tokensAt = now
    }
}
