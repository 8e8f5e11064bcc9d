import SignalingProtocol
import SignalingWire

@testable import SignalingClient

/// Makes clients with predictable random numbers, and the frames that a gateway sends them.
enum Script {
    static let here = GatewayEndpoint(host: "10.0.0.1", port: 1)
    static let there = GatewayEndpoint(host: "10.0.0.2", port: 1)

    static var configuration: ClientConfiguration {
        ClientConfiguration(app: "app", account: "alice", token: "t", source: .addresses([here, there]))
    }

    /// A client that is not started, whose random numbers are always the lowest, or always the highest, of their range.
    static func machine(
        _ configuration: ClientConfiguration = configuration, lowest: Bool = true
    ) -> ClientStateMachine {
        ClientStateMachine(configuration: configuration, chance: { lowest ? $0.lowerBound : $0.upperBound })
    }

    /// A client that has been logged in at `here` since time 0.
    static func online(
        _ configuration: ClientConfiguration = configuration, lowest: Bool = true
    ) -> ClientStateMachine {
        var machine = machine(configuration, lowest: lowest)
        _ = machine.start(now: 0)
        _ = machine.connected(attempt: 1, now: 0)
        _ = machine.received(loggedIn, attempt: 1, now: 0)
        return machine
    }

    static let loggedIn = ServerMessage.loginAnswer(
        .success(ServerMessage.SessionAnswer(line: "L", uid: 7, push: true, channel: nil, complete: false)))

    static func resumed(channel: String? = nil, complete: Bool = true) -> ServerMessage {
        .resumeAnswer(ServerMessage.SessionAnswer(line: "L", uid: 7, push: true, channel: channel, complete: complete))
    }

    static func said(_ id: Int64, _ text: String, in channel: String = "room") -> ServerMessage {
        let content = #"{"channel":"\#(channel)","account":"bob","uid":3,"msg":"\#(text)"}"#
        return .channelEvent(id: id, line: "msg-v2 bob - v1:E:0 channel_msg 5 \(content)")
    }

    static func mail(_ version: Int64, _ text: String) -> ServerMessage {
        .mailboxEntry(version: version, line: "msg-v2 bob alice v1:E:60 instant 5 \(text)")
    }

    static let ok = Result<JSONValue, SignalingError>.success(.object([JSONMember("result", "ok")]))
}

extension [ClientStateMachine.Action] {
    /// The frames among the actions, as text.
    var sent: [String] {
        compactMap { if case .send(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil } }
    }

    var events: [SignalingEvent] {
        compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    /// The codes of the calls' answers among the actions; 0 for success.
    var answers: [Int] {
        compactMap {
            switch $0 {
            case .answer(_, .success): 0
            case .answer(_, .failure(let error)): error.code.rawValue
            default: nil
            }
        }
    }
}

/// Each event of the machine as a method. A call's ticket equals its id on the wire.
extension ClientStateMachine {
    mutating func start(now: Int64) -> [Action] { handle(.start, now: now) }

    mutating func discovered(_ found: [GatewayEndpoint], attempt: Int, now: Int64) -> [Action] {
        handle(.discovered(found, attempt: attempt), now: now)
    }

    mutating func connected(attempt: Int, now: Int64) -> [Action] { handle(.connected(attempt: attempt), now: now) }

    mutating func disconnected(attempt: Int, now: Int64) -> [Action] {
        handle(.disconnected(attempt: attempt), now: now)
    }

    mutating func received(_ message: ServerMessage, attempt: Int, now: Int64) -> [Action] {
        handle(.received(message, attempt: attempt), now: now)
    }

    mutating func call(_ function: String, _ arguments: [JSONMember], now: Int64) -> (id: Int64, actions: [Action]) {
        let id = calls.lastID + 1
        return (id, handle(.call(ticket: id, function: function, arguments: arguments), now: now))
    }

    mutating func cancel(_ id: Int64, now: Int64) -> [Action] { handle(.cancelled(ticket: id), now: now) }

    mutating func logOut(now: Int64) -> [Action] { handle(.logOut, now: now) }

    mutating func tick(now: Int64) -> [Action] { handle(.tick, now: now) }
}
