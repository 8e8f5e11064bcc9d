import MediaEngineLogic
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import SignalingClient
import SignalingProtocol
import SignalingWire

@testable import MediaClient

/// A gateway that answers when a test says so. Used on the call's loop.
final class ScriptedControl: CallControl {
    private(set) var calls: [(call: ControlCall, completion: ControlConnection.Completion)] = []
    private let notice: (ControlConnection.Notice) -> Void

    init(_ notice: @escaping (ControlConnection.Notice) -> Void) { self.notice = notice }

    let isOnline = true

    func start() {}
    func stop() {}
    func advance() {}

    func call(_ call: ControlCall, _ completion: @escaping ControlConnection.Completion) {
        calls.append((call, completion))
    }

    /// How often a function was called.
    func count(_ function: MediaCall.Function) -> Int { calls.count { $0.call.function == function } }

    /// Answers the latest call of a function.
    func answer(_ function: MediaCall.Function, _ answer: Result<JSONValue, MediaError>) {
        calls.last { $0.call.function == function }?.completion(answer)
    }

    func answer(_ function: MediaCall.Function, _ text: String) throws {
        answer(function, .success(try JSONValue.parse(text.utf8)))
    }

    /// Answers the latest join.
    func joined(n: Int64 = 10, slots: [UInt32] = [2001, 2002], node: String = "m", pid: String = "p") throws {
        try answer(
            .join,
            #"{"result":"ok","uid":7,"pid":"\#(pid)","secret":"s","node":"\#(node)","n":\#(n),"users":[[8,0,1],[7,0,0]],"#
                + #""candidates":[["udp","127.0.0.1",1]],"ufrag":"u","pwd":"w","pub":"\#(EngineKeyPair().publicKey)","#
                + #""suite":"AEAD_AES_128_GCM","ssrcs":{"audio":1},"slots":{"audio":\#(slots)},"pts":{"opus":111}}"#)
    }

    func tell(_ event: ChannelNotice) { notice(.channel(event)) }

    /// Another user has joined, or changed what it sends.
    func member(_ uid: UInt32, _ flags: MediaFlags = [], n: Int64) {
        tell(.member(RosterMember(uid: uid, flags: flags), n: n, participant: "p"))
    }
}

/// A call whose gateway and devices are a test's. What a test does with it happens on the call's loop, and the call
/// takes a step only when a test says so: it does not matter how long a busy machine takes between two lines of a test.
final class DriverScene: Sendable {
    private final class Parts {
        var control: ScriptedControl?
        var driver: CallDriver?
    }

    private let told = NIOLockedValueBox<[MediaClient.MediaEvent]>([])
    private let parts: NIOLoopBound<Parts>
    private let eventLoop: any EventLoop

    /// What the app was told so far.
    var events: [MediaClient.MediaEvent] { told.withLockedValue { $0 } }

    /// A call that asks for its first join when a test does something with it.
    init(_ devices: MediaDevices = MediaDevices()) async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let told = self.told
        parts = try await eventLoop.submit {
            let parts = Parts()
            let configuration = MediaConfiguration(
                app: "app", channel: "room", source: .addresses([]), devices: devices)
            parts.driver = CallDriver(
                configuration: configuration, eventLoop: eventLoop,
                connect: { _, _, notice in
                    let control = ScriptedControl(notice)
                    parts.control = control
                    return control
                }, sink: { event in told.withLockedValue { $0.append(event) } })
            return NIOLoopBound(parts, eventLoop: eventLoop)
        }.get()
        self.eventLoop = eventLoop
    }

    @discardableResult
    func on<Value: Sendable>(
        _ body: @escaping @Sendable (CallDriver, ScriptedControl) throws -> Value
    ) async throws -> Value {
        try await eventLoop.submit { [parts] in
            let parts = parts.value
            parts.driver?.start(isTimed: false)
            guard let driver = parts.driver, let control = parts.control else {
                preconditionFailure("a call makes its connection when it starts")
            }
            return try body(driver, control)
        }.get()
    }

    /// Gets in: the join is answered, and the first packet comes. Then the call takes a step.
    func join(n: Int64 = 10, slots: [UInt32] = [2001, 2002]) async throws {
        try await on { driver, control in
            try control.joined(n: n, slots: slots)
            driver.receive(.sign(size: 1))
            driver.advance()
        }
    }

    func end() async throws { try await on { driver, _ in driver.end(nil) } }
}

/// Devices that do what a test says.
final class ScriptedCapture: AudioCapture {
    private let taker = NIOLockedValueBox<(@Sendable (UnsafeBufferPointer<Int16>) -> Void)?>(nil)
    private let report = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) {
        taker.withLockedValue { $0 = deliver }
    }

    func stop() { taker.withLockedValue { $0 = nil } }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { self.report.withLockedValue { $0 = report } }

    func deliver(_ samples: [Int16]) {
        guard let taker = taker.withLockedValue({ $0 }) else { return }
        samples.withUnsafeBufferPointer(taker)
    }

    func fail(_ text: String) { report.withLockedValue { $0 }?(text) }
}

final class ScriptedPlayback: AudioPlayback {
    private let giver = NIOLockedValueBox<(@Sendable (UnsafeMutableBufferPointer<Int16>) -> Void)?>(nil)
    private let report = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)

    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {
        giver.withLockedValue { $0 = request }
    }

    func stop() { giver.withLockedValue { $0 = nil } }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { self.report.withLockedValue { $0 = report } }

    func ask(_ count: Int) {
        guard let giver = giver.withLockedValue({ $0 }) else { return }
        var samples = [Int16](repeating: 0, count: count)
        samples.withUnsafeMutableBufferPointer { giver($0) }
    }

    func fail(_ text: String) { report.withLockedValue { $0 }?(text) }
}
