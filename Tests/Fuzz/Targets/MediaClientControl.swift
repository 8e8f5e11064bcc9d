import CMedia
import MediaEngineLogic
import SignalingClient
import SignalingProtocol
import SignalingWire

@testable import MediaClient

/// What a gateway says to a client: hello, answers to its calls, and what happens in the channel.
///
/// An input is a list of frames with a zero byte between them. One that begins with `{` is the answer to a join,
/// without the frame and the quotes around it.
struct MediaClientControl {
    private static let frameBound = 64
    private static let pair: EngineKeyPair = {
        guard let pair = EngineKeyPair(privateKey: Array(1...32)) else { fatalError("32 bytes") }
        return pair
    }()

    private var machine = ControlMachine(
        app: "app",
        source: .addresses([GatewayEndpoint(host: "one", port: 1), GatewayEndpoint(host: "two", port: 2)]),
        chance: \.lowerBound)
    private var now: Int64 = 1000
    private var attempt = 0
    private var lastTicket = 0
    /// The calls that wait for an answer.
    private var open: Set<Int> = []
    private var roster: Roster?
    /// The users as the app was told of them.
    private var users: [UInt32: MediaClient.MediaUser] = [:]

    mutating func run(_ bytes: [UInt8]) {
        handle(.start)
        for frame in bytes.split(separator: 0, maxSplits: Self.frameBound, omittingEmptySubsequences: true) {
            receive(Array(frame))
            now += 100
            if let due = machine.due, due <= now { handle(.tick) }
        }
        handle(.stop)
        holds(open.isEmpty, "every call is answered")
        holds(machine.due == nil, "nothing is due after the end")
    }

    private mutating func receive(_ frame: [UInt8]) {
        if frame.first == UInt8(ascii: "{") {
            if let json = try? JSONValue.parse(frame) { join(json) }
            return
        }
        let message = try? ControlMessage(decoding: frame)
        if !machine.isOnline, case .hello = message {
        } else if !machine.isOnline {
            handle(.received(.hello(.success("line")), attempt: attempt))
        }
        while machine.isOnline, open.count < ControlMachine.callBound { call() }
        // A gateway that violates the protocol is left.
        handle(message.map { .received($0, attempt: attempt) } ?? .disconnected(attempt: attempt))
    }

    private mutating func call() {
        lastTicket += 1
        open.insert(lastTicket)
        let subject = ControlCall.Subject(channel: "channel", participant: "participant", secret: "secret")
        handle(.call(.resume(subject, n: roster?.n ?? 0), ticket: lastTicket))
    }

    private mutating func handle(_ event: ControlMachine.Event) {
        for action in machine.handle(event, now: now) { perform(action) }
    }

    private mutating func perform(_ action: ControlMachine.Action) {
        switch action {
        case .discover: fatalError("does not hold: addresses that are known are not looked for")
        case .connect(let attempt, _):
            self.attempt = attempt
            handle(.connected(attempt: attempt))
        case .send(let frame): holds((try? JSONValue.parse(frame)) != nil, "what is sent is JSON")
        case .answer(let ticket, let answer):
            holds(open.remove(ticket) != nil, "a call is answered once")
            if case .success(let json) = answer { answered(json, ticket: ticket) }
        case .notice(let notice): follow(notice)
        case .disconnect, .online, .noGateway, .refused: break
        }
    }

    // MARK: - Answers

    /// The calls are of all kinds by turns.
    private mutating func answered(_ json: JSONValue, ticket: Int) {
        switch ticket % 3 {
        case 0: if let copy = try? RosterCopy(json) { replace(with: copy, isOtherNode: false) }
        case 1: join(json)
        default: if let transport = try? TransportAnswer(json) { begin(transport, participant: "participant") }
        }
    }

    private mutating func join(_ json: JSONValue) {
        guard let answer = try? JoinAnswer(json) else { return }
        begin(answer.transport, participant: answer.participant)
        if roster != nil { return replace(with: answer.roster, isOtherNode: answer.node.rawValue.isEmpty) }
        let new = Roster(answer.roster, own: answer.uid)
        roster = new
        follow(new.arrivals)
    }

    /// What a call does with a transport.
    private func begin(_ transport: TransportAnswer, participant: String) {
        holds(transport.slots.count <= AudioMixer.capacity, "what is heard at once can be mixed")
        holds(1...65_535 ~= transport.port && transport.payloadType < 128, "numbers are in their ranges")
        _ = try? Self.pair.agree(publicKey: transport.publicKey, participant: participant)
        var checks = PathChecks(ufrag: transport.ufrag, password: transport.password)
        let check = checks.request(now: MediaInstant(microseconds: 0))
        var stun = cm_stun()
        // Without a user name there is none in it, and with one that is too long no check.
        let isCheck = cm_stun_read(&stun, check, check.count)
        holds(
            isCheck || check.isEmpty || transport.ufrag.utf8.first.map { $0 == UInt8(ascii: ":") } ?? true,
            "a check is one")
    }

    // MARK: - The roster

    private mutating func follow(_ notice: ChannelNotice) {
        let before = roster?.n
        let outcome: Roster.Outcome?
        switch notice {
        case .member(let member, let n, _): outcome = roster?.changed(member, n: n)
        case .left(let uid, let reason, let n, _): outcome = roster?.left(uid: uid, reason, n: n)
        case .uplinks(let all, let n, _):
            for uplink in all { holds(0...100 ~= uplink.loss && uplink.delay >= 0, "an uplink's numbers are in range") }
            outcome = n.flatMap { roster?.stands(at: $0) }
        case .keyEnded, .gone: return
        }
        guard let before, let roster else { return }
        switch outcome {
        case .events(let events):
            holds(roster.n > before, "numbers rise")
            follow(events)
        case .gap(let events):
            holds(roster.n == before && roster.isBehind, "after a gap the whole roster is asked for")
            follow(events)
        case .old, nil: holds(roster.n == before, "what is not taken changes nothing")
        }
    }

    private mutating func replace(with copy: RosterCopy, isOtherNode: Bool) {
        guard let events = roster?.replace(with: copy, isOtherNode: isOtherNode) else { return }
        follow(events)
    }

    /// Does as an app does that is told of changes.
    private mutating func follow(_ events: [MediaClient.MediaEvent]) {
        for event in events {
            switch event {
            case .userJoined(let user): holds(users.updateValue(user, forKey: user.uid) == nil, "a user joins once")
            case .userLeft(let uid, _): holds(users.removeValue(forKey: uid) != nil, "who leaves was there")
            case .audioMuted(let uid, let isMuted): change(uid) { $0.isAudioMuted = isMuted }
            case .videoMuted(let uid, let isMuted): change(uid) { $0.isVideoMuted = isMuted }
            case .videoEnabled(let uid, let isEnabled): change(uid) { $0.hasVideo = isEnabled }
            default: fatalError("does not hold: a roster tells of users: \(event)")
            }
        }
        let told = roster.map(\.arrivals) ?? []
        let same = told.allSatisfy { if case .userJoined(let user) = $0 { users[user.uid] == user } else { false } }
        holds(same && told.count == users.count, "who knows all changes knows the users")
    }

    private mutating func change(_ uid: UInt32, _ change: (inout MediaClient.MediaUser) -> Void) {
        let before = users[uid]
        holds(before != nil, "who changes is there")
        guard var user = before else { return }
        change(&user)
        holds(user != before, "a change is one")
        users[uid] = user
    }
}
