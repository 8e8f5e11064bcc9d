internal import DequeModule
internal import SignalingProtocol
internal import SignalingWire

/// The calls that have no answer yet: kept through reconnects, sent in their order, each answered once.
struct CallTable {
    /// The most calls on one connection that wait for answers. Gateways disconnect a client at twice as many.
    static let flightBound = 512
    /// Messages per second while a backlog is sent, below the gateway's limit of 60.
    static let pace = 55.0
    private static let burst = 4.0

    struct Call: Equatable {
        /// The call's number on the wire. Calls are sent in the order of their numbers.
        var id: Int64
        /// What the answer is for; nil for the client's own calls.
        var ticket: Int64?
        var function: String
        var arguments: [JSONMember]
        var deadline: Int64
        /// How often the call was sent.
        var attempts = 0
        var isInFlight = false

        var isMessage: Bool { function == "user_sendmsg" || function == "channel_sendmsg" }

        /// Whether, after this error, the call may or may not have taken effect and can be sent again: the cluster recognises a
        /// message by its id.
        func isUndecided(by error: SignalingError) -> Bool {
            isMessage && (error.reason == .unavailable || error.reason == .timeout)
        }

        /// Whether the call may be sent again when its answer was lost. Digits have no id by which the cluster would recognise
        /// them, and twice is worse than not at all.
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

        /// Whether this error of a call that was sent again means that the first one has taken effect.
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
    /// Until this time messages are paced: a backlog is being sent, or was a moment ago.
    private var pacedUntil = Int64.min
    private var tokens = burst
    private var tokensAt: Int64 = 0
    /// Until this time nothing is sent. A message that the cluster could not take is sent again first, so that messages stay
    /// in order.
    private var heldUntil = Int64.min

    var count: Int { calls.count }
    var isEmpty: Bool { calls.isEmpty }
    /// Whether calls wait for nothing but the pace.
    var isBacklogged: Bool { !waiting.isEmpty && inFlight < Self.flightBound }

    /// A number that no call has had yet.
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

    /// The calls to send now, in order.
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

    /// Takes a call out: it was answered, cancelled, or timed out.
    mutating func remove(_ id: Int64) -> Call? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if call.isInFlight { inFlight -= 1 }
        return call
    }

    /// Takes a call out that the app has cancelled.
    mutating func remove(ticket: Int64) -> Call? {
        calls.values.first { $0.ticket == ticket }.flatMap { remove($0.id) }
    }

    /// Puts a call back to be sent again, before the later ones that were not sent yet. Until `time` nothing is sent.
    mutating func repeatCall(_ call: Call, at time: Int64) {
        var call = call
        call.isInFlight = false
        calls[call.id] = call
        waiting.insert(call.id, at: waiting.firstIndex { $0 > call.id } ?? waiting.endIndex)
        heldUntil = max(heldUntil, time)
    }

    /// The connection is lost: calls without an answer are sent again on the next one, in order.
    /// - Returns: the calls that are given up, because they may not be sent twice.
    mutating func connectionLost() -> [Call] {
        let unrepeatable = calls.values.filter { $0.isInFlight && !$0.isRepeatable }.sorted { $0.id < $1.id }
        for call in unrepeatable { _ = remove(call.id) }
        for id in calls.keys { calls[id]?.isInFlight = false }
        waiting = Deque(calls.keys.sorted())
        inFlight = 0
        heldUntil = .min
        return unrepeatable
    }

    /// The session is lost, and with it the cluster's memory of which calls have taken effect.
    /// - Returns: the calls that were sent and not answered, which are given up.
    mutating func sessionLost() -> [Call] {
        let sent = calls.values.filter { $0.attempts > 0 }.sorted { $0.id < $1.id }
        for call in sent { _ = remove(call.id) }
        waiting = Deque(calls.keys.sorted())
        inFlight = 0
        return sent
    }

    /// A new connection is established: what waited is sent at the pace.
    mutating func connectionRestored(now: Int64) {
        pacedUntil = now + 1000
        tokens = Self.burst
        tokensAt = now
    }

    /// Takes out the calls whose time is over, in order.
    mutating func takeExpired(now: Int64) -> [Call] {
        guard now >= earliestDeadline else { return [] }
        let expired = calls.values.filter { $0.deadline <= now }.sorted { $0.id < $1.id }
        for call in expired { _ = remove(call.id) }
        earliestDeadline = calls.values.map(\.deadline).min() ?? .max
        return expired
    }

    /// Takes out all calls, in order.
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
