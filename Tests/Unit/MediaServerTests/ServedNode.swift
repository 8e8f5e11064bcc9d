import BusProtocol
import CMediaNode
import SignalingProtocol
import Synchronization

@testable import MediaServer

/// A node whose paths, clock and publications are the test's.
final class ServedNode: MediaPaths {
    struct Path: Sendable {
        var settings: cm_participant_settings
        var replaced: UInt64?
    }

    private struct State {
        var opened: [Path] = []
        var closed: [UInt64] = []
        var allowed: [UInt64: UInt32] = [:]
        var restarted: [cm_restart_settings] = []
        var uplinks: [UInt64: MediaUplinkCounts] = [:]
        var unixTime: Int64 = 1_800_000_000
        var told: [(asker: AskerID, event: MediaPublication)] = []
        var now = ContinuousClock.now
        var error: Int32 = 0
        var clock: Int64? = 1_000_000
        var onOpen: (@Sendable () async -> Void)?
    }

    static let key = MediaChannelKey(app: AppID.test, name: .test)
    static let gateways = (1...2).map { AskerID.gateway(GatewayID("gateway-\($0)")) }

    private let state = Mutex(State())

    func node(_ change: (inout MediaNodeBounds) -> Void = { _ in }) -> MediaNode {
        var bounds = MediaNodeBounds()
        change(&bounds)
        let planner = MediaPathPlanner(
            address: "192.0.2.1", port: 7000, fingerprint: [UInt8](repeating: 7, count: 32), audioSlots: 6)
        return MediaNode(
            bounds: bounds,
            MediaNode.Surroundings(
                paths: self, planner: planner,
                publish: { asker, event in self.state.withLock { $0.told.append((asker, event)) } },
                clock: { self.state.withLock { $0.clock } }, now: { self.state.withLock { $0.now } },
                unixTime: { self.state.withLock { $0.unixTime } }))
    }

    func open(_ settings: cm_participant_settings, replacing: UInt64?) async -> Int32 {
        let act = state.withLock { state in
            state.opened.append(Path(settings: settings, replaced: replacing))
            return state.onOpen
        }
        await act?()
        return state.withLock { $0.error }
    }

    func restart(_ id: UInt64, _ settings: cm_restart_settings) async -> Int32 {
        state.withLock { state in
            state.restarted.append(settings)
            return state.error
        }
    }

    func allow(_ id: UInt64, _ allowed: UInt32) async { state.withLock { $0.allowed[id] = allowed } }

    func uplinks(of ids: [UInt64]) async -> [UInt64: MediaUplinkCounts] {
        state.withLock { $0.uplinks.filter { ids.contains($0.key) } }
    }

    func close(_ id: UInt64) async -> MediaTraffic {
        state.withLock { $0.closed.append(id) }
        return MediaTraffic(bytesReceived: 1000, bytesSent: 234)
    }

    var opened: [Path] { state.withLock { $0.opened } }
    var closed: [UInt64] { state.withLock { $0.closed } }
    var restarted: [cm_restart_settings] { state.withLock { $0.restarted } }
    /// What the loop was last told to let the participant do that was opened at this place; nil before it was.
    func allowed(_ place: Int) -> UInt32? { state.withLock { $0.allowed[$0.opened[place].settings.id] } }
    /// Sets what has come from the participant that was opened at this place.
    func count(_ place: Int, _ uplink: MediaUplinkCounts) {
        state.withLock { $0.uplinks[$0.opened[place].settings.id] = uplink }
    }
    /// Time passes, by both clocks.
    func pass(_ time: Duration) {
        state.withLock { state in
            state.now += time
            state.unixTime += time.components.seconds
        }
    }
    func fail(_ error: Int32) { state.withLock { $0.error = error } }
    func loseClock() { state.withLock { $0.clock = nil } }
    func onOpen(_ act: @escaping @Sendable () async -> Void) { state.withLock { $0.onOpen = act } }

    /// What was published since the last call, in words.
    func told() -> [String] {
        let told = state.withLock { state in
            defer { state.told = [] }
            return state.told
        }
        return told.map { asker, publication in
            let pids = publication.participants.map(\.rawValue).joined(separator: ",")
            return "\(asker.id) \(pids)\(publication.isLast ? " last" : ""): \(Self.words(publication.event))"
        }
    }

    private static func words(_ event: MediaEvent) -> String {
        switch event {
        case .joined(let uid, let flags, let n): "joined \(uid) \(flags.rawValue) n\(n)"
        case .left(let uid, let reason, let n): "left \(uid) \(reason) n\(n)"
        case .state(let uid, let flags, let n): "state \(uid) \(flags.rawValue) n\(n)"
        case .stats(let uplinks, let n):
            "stats" + uplinks.map { " \($0.uid):\($0.delay)ms:\($0.loss)%" }.joined() + " n\(n)"
        case .key: "key"
        case .gone(let reason): "gone \(reason)"
        }
    }
}

extension AppID {
    static var test: AppID {
        guard let app = try? AppID("0123456789abcdef0123456789abcdef") else { preconditionFailure("an app's id") }
        return app
    }
}

extension MediaChannelName {
    static var test: MediaChannelName {
        guard let name = try? MediaChannelName("room") else { preconditionFailure("a channel's name") }
        return name
    }
}

extension MediaNode {
    /// An engine joins, unless the command is changed.
    @discardableResult
    func join(
        _ pid: String, uid: UInt32 = 0, gateway: Int = 0, channel: MediaChannelKey = ServedNode.key,
        _ change: @Sendable (inout JoinMedia) -> Void = { _ in }
    ) async throws(MediaRefusal) -> MediaJoined {
        var command = JoinMedia(
            to: MediaNodeID("node"), channel: channel, participant: ParticipantID(pid), uid: uid,
            call: "call of \(pid)", transport: .engine)
        change(&command)
        return try await join(command, asker: ServedNode.gateways[gateway])
    }

    @discardableResult
    func leave(_ pid: String, gateway: Int = 0) async throws(MediaRefusal) -> MediaLeft {
        try await leave(
            LeaveMedia(from: MediaNodeID("node"), channel: ServedNode.key, participant: ParticipantID(pid)),
            asker: ServedNode.gateways[gateway])
    }

    /// Why a join is refused; nil when it is not.
    func refusal(
        _ pid: String, uid: UInt32 = 0, channel: MediaChannelKey = ServedNode.key,
        _ change: @Sendable (inout JoinMedia) -> Void = { _ in }
    ) async -> MediaRefusal? {
        do throws(MediaRefusal) {
            try await join(pid, uid: uid, channel: channel, change)
            return nil
        } catch {
            return error
        }
    }
}

extension MediaTransportOffer {
    /// An engine with a key of its own.
    static var engine: MediaTransportOffer {
        var pair = cm_key_pair()
        precondition(cm_key_pair_make(&pair), "random numbers")
        return .engine(publicKey: Base64.text(withUnsafeBytes(of: pair.public_key) { Array($0) }), codecs: ["opus"])
    }
}

extension MediaJoined {
    var engine: EngineTransport? { if case .engine(let transport) = transport { transport } else { nil } }
    var page: String? { if case .web(let answer) = transport { answer } else { nil } }
}
