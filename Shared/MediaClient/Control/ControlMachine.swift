internal import SignalingClient
internal import SignalingProtocol
internal import SignalingWire

/// The connection to a gateway for media calls: finding one, saying hello, calls and their answers, and beginning anew.
///
/// Without I/O: events are passed to ``handle(_:now:)``, which returns the actions to perform, in order. Times are
/// milliseconds of any clock that does not go backwards.
struct ControlMachine {
    /// How long discovery, connecting and the hello may take, each.
    static let stepTime = ClientDuration.seconds(5)
    /// How long a call waits for its answer: gateways give a node 2 s.
    static let answerTime: Int64 = 5000
    /// The most calls without an answer: as many as a gateway takes.
    static let callBound = 16

    enum Event {
        case start
        /// Discovery is done; empty when nothing answered.
        case discovered([GatewayEndpoint], attempt: Int)
        case connected(attempt: Int)
        case disconnected(attempt: Int)
        case received(ControlMessage, attempt: Int)
        /// Calls a function; answered once, under that number, also when there is no connection.
        case call(ControlCall, ticket: Int)
        /// No connection is needed any more.
        case stop
        /// The time of ``due`` has come.
        case tick
    }

    enum Action: Equatable {
        case discover(attempt: Int)
        case connect(attempt: Int, GatewayEndpoint)
        case send([UInt8])
        case disconnect
        case answer(ticket: Int, Result<JSONValue, MediaError>)
        case notice(ChannelNotice)
        /// Calls are taken now.
        case online
        /// No gateway has answered for 5 s; told once until one does.
        case noGateway
        /// The gateway says that nothing will come of this client, such as an unknown app.
        case refused(MediaError)
    }

    private enum State: Equatable {
        case idle
        case discovering(since: Int64)
        case waiting(until: Int64)
        case connecting(since: Int64)
        case greeting(since: Int64)
        case online(line: String)
        case stopped
    }

    private struct Call {
        var ticket: Int
        var due: Int64
    }

    private let app: String
    private let source: GatewaySource
    private let chance: @Sendable (ClosedRange<Int64>) -> Int64
    private let timing: ClientTiming
    private var state = State.idle
    private var search = GatewaySearch()
    private var heartbeat = Heartbeat()
    private var calls: [Int64: Call] = [:]
    private var lastID: Int64 = 0
    private var hasWarned = false

    init(
        app: String, source: GatewaySource,
        chance: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { Int64.random(in: $0) }
    ) {
        self.app = app
        self.source = source
        self.chance = chance
        var timing = ClientTiming()
        // An engine is to be back within seconds, and its calls are few.
        timing.backOff = .milliseconds(200)
        timing.backOffLimit = .seconds(2)
        self.timing = timing
    }

    var isOnline: Bool {
        if case .online = state { true } else { false }
    }

    mutating func handle(_ event: Event, now: Int64) -> [Action] {
        switch event {
        case .start:
            guard state == .idle else { return [] }
            search.begin(now: now)
            return find(now: now)
        case .discovered(let found, let attempt):
            guard attempt == search.attempt, case .discovering = state else { return [] }
            search.found(found, isOrdered: false)
            return connect(now: now)
        case .connected(let attempt):
            guard attempt == search.attempt, case .connecting = state else { return [] }
            state = .greeting(since: now)
            return [.send(ControlRequest.hello(app: app))]
        case .disconnected(let attempt):
            return attempt == search.attempt ? lost(now: now) : []
        case .received(let message, let attempt):
            return attempt == search.attempt ? received(message, now: now) : []
        case .call(let call, let ticket): return send(call, ticket: ticket, now: now)
        case .stop: return stop()
        case .tick: return tick(now: now)
        }
    }

    /// When `tick` is to be passed; nil for never.
    var due: Int64? {
        let own: Int64? =
            switch state {
            case .idle, .stopped: nil
            case .discovering(let since), .connecting(let since), .greeting(let since):
                since + Self.stepTime.milliseconds
            case .waiting(let until): until
            case .online: heartbeat.due
            }
        let warning = hasWarned || isOnline || own == nil ? nil : search.since + Self.stepTime.milliseconds
        return [own, warning, calls.values.map(\.due).min()].compactMap(\.self).min()
    }

    // MARK: - Connecting

    private mutating func find(now: Int64) -> [Action] {
        let attempt = search.nextAttempt()
        switch source {
        case .discovery:
            state = .discovering(since: now)
            return [.discover(attempt: attempt)]
        case .addresses(let endpoints):
            search.found(endpoints, isOrdered: false)
            return connect(now: now)
        }
    }

    private mutating func connect(now: Int64) -> [Action] {
        guard let endpoint = search.choose(chance) else { return pause(now: now) }
        state = .connecting(since: now)
        return [.connect(attempt: search.attempt, endpoint)]
    }

    /// Waits before the next attempt.
    private mutating func pause(now: Int64) -> [Action] {
        state = .waiting(until: now + search.failed(timing, chance))
        return [.disconnect]
    }

    /// The connection is gone, or could not be made: what was asked has no answer.
    private mutating func lost(now: Int64) -> [Action] {
        switch state {
        case .idle, .stopped, .waiting: return []
        case .discovering, .connecting, .greeting: return pause(now: now)
        case .online:
            let answers = giveUpCalls()
            search.begin(now: now)
            hasWarned = false
            return [.disconnect] + answers + find(now: now)
        }
    }

    private mutating func giveUpCalls() -> [Action] {
        defer { calls = [:] }
        return calls.sorted { $0.key < $1.key }.map { .answer(ticket: $0.value.ticket, .failure(.noGateway)) }
    }

    private mutating func stop() -> [Action] {
        guard state != .stopped else { return [] }
        state = .stopped
        search.abandonAttempt()
        return [.disconnect] + giveUpCalls()
    }

    // MARK: - Frames

    private mutating func received(_ message: ControlMessage, now: Int64) -> [Action] {
        switch message {
        case .hello(.success(let line)):
            guard case .greeting = state else { return [] }
            state = .online(line: line)
            hasWarned = false
            heartbeat.start(now: now, timing)
            return [.online]
        case .hello(.failure(let error)):
            guard case .greeting = state else { return [] }
            return error.isFinal ? stop() + [.refused(error)] : pause(now: now)
        case .answer(let id, let answer):
            return calls.removeValue(forKey: id).map { [.answer(ticket: $0.ticket, answer)] } ?? []
        case .event(let notice): return [.notice(notice)]
        case .pong:
            heartbeat.ponged()
            return []
        case .close: return lost(now: now)
        case .unknown: return []
        }
    }

    private mutating func send(_ call: ControlCall, ticket: Int, now: Int64) -> [Action] {
        guard case .online(let line) = state, calls.count < Self.callBound else {
            return [.answer(ticket: ticket, .failure(.noGateway))]
        }
        lastID += 1
        calls[lastID] = Call(ticket: ticket, due: now + Self.answerTime)
        return [.send(ControlRequest.call(call, id: lastID, line: line))]
    }

    private mutating func tick(now: Int64) -> [Action] {
        var actions: [Action] = []
        for (id, call) in calls.sorted(by: { $0.key < $1.key }) where call.due <= now {
            calls[id] = nil
            actions.append(.answer(ticket: call.ticket, .failure(.noAnswer)))
        }
        switch state {
        case .discovering(let since), .connecting(let since), .greeting(let since):
            if now - since >= Self.stepTime.milliseconds { actions += pause(now: now) }
        case .waiting(let until):
            if now >= until { actions += find(now: now) }
        case .online:
            if now >= heartbeat.due { actions += beat(now: now) }
        case .idle, .stopped: break
        }
        let isAway = !isOnline && state != .idle && state != .stopped
        if isAway, !hasWarned, now - search.since >= Self.stepTime.milliseconds {
            hasWarned = true
            actions.append(.noGateway)
        }
        return actions
    }

    private mutating func beat(now: Int64) -> [Action] {
        guard let number = heartbeat.nextPing(now: now, timing, isReadingPaused: false) else { return lost(now: now) }
        return [.send(ControlRequest.ping(number))]
    }
}
