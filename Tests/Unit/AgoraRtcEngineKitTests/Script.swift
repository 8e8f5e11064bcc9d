import MediaClient
import NIOConcurrencyHelpers
import SignalingClient

@testable import AgoraRtcEngineKit

/// A call that does nothing but write down what it is asked for.
final class ScriptedCall: MediaCall {
    let configuration: MediaConfiguration
    let sink: @Sendable (MediaEvent) -> Void
    private let written = NIOLockedValueBox<[String]>([])

    var asked: [String] { written.withLockedValue { $0 } }

    init(_ configuration: MediaConfiguration, _ sink: @escaping @Sendable (MediaEvent) -> Void) {
        self.configuration = configuration
        self.sink = sink
    }

    private func write(_ text: String) { written.withLockedValue { $0.append(text) } }

    func start() { write("start") }
    func leave() { write("leave") }
    func renew(key: String) { write("renew \(key)") }
    func muteLocalAudio(_ isMuted: Bool) { write("local \(isMuted)") }
    func muteRemoteAudio(_ isMuted: Bool, uid: UInt32) { write("remote \(uid) \(isMuted)") }
    func muteAllRemoteAudio(_ isMuted: Bool) { write("all \(isMuted)") }
    func reportVolumes(everyMilliseconds interval: Int, smooth: Int) { write("volumes \(interval) \(smooth)") }
    func setGain(capture: Double?, playback: Double?) {
        write("gain \(capture.map { "\($0)" } ?? "-") \(playback.map { "\($0)" } ?? "-")")
    }
}

/// A playback device that writes down its routes.
final class ScriptedPlayback: AudioPlayback {
    private let written = NIOLockedValueBox<[Bool]>([])

    var routes: [Bool] { written.withLockedValue { $0 } }

    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {}
    func stop() {}
    func route(speaker: Bool) { written.withLockedValue { $0.append(speaker) } }
}

/// An engine with scripted calls and a clock that stands still until it is set.
final class EngineScript: Sendable {
    let engine: AgoraRtcEngineKit
    let playback = ScriptedPlayback()
    private let made = NIOLockedValueBox<[ScriptedCall]>([])
    private let time = NIOLockedValueBox(1000)

    var calls: [ScriptedCall] { made.withLockedValue { $0 } }
    var call: ScriptedCall { calls.last! }

    init(
        _ delegate: (any AgoraRtcEngineDelegate)?, vendorKey: String = "0123456789abcdef0123456789abcdef",
        source: GatewaySource? = .discovery(["http://localhost"]), onMainQueue: Bool = false
    ) {
        let (made, time) = (made, time)
        let surroundings = EngineSurroundings(
            source: source, devices: MediaDevices(playback: playback), callsOnMainQueue: onMainQueue,
            milliseconds: { time.withLockedValue { $0 } },
            makeCall: { configuration, sink in
                let call = ScriptedCall(configuration, sink)
                made.withLockedValue { $0.append(call) }
                return call
            })
        engine = AgoraRtcEngineKit(surroundings, vendorKey: vendorKey, delegate: delegate)
    }

    func pass(milliseconds: Int) { time.withLockedValue { $0 += milliseconds } }

    func happens(_ events: MediaEvent...) { events.forEach(call.sink) }

    /// Waits until the callbacks that wait have been called.
    func settle() async {
        await withCheckedContinuation { done in engine.session.callbacks.tell([{ _ in done.resume() }]) }
    }

    /// Is in the channel `tea` as 7.
    func join() {
        engine.joinChannel(byKey: nil, channelName: "tea", info: nil, uid: 0, joinSuccess: nil)
        happens(.joined(uid: 7))
    }
}

/// What an app was told, one line per callback.
final class Told: Sendable {
    private let written = NIOLockedValueBox<[String]>([])

    var lines: [String] { written.withLockedValue { $0 } }

    func write(_ text: String) { written.withLockedValue { $0.append(text) } }
}

extension MediaStatistics {
    static func after(_ seconds: Int) -> MediaStatistics {
        var statistics = MediaStatistics()
        statistics.duration = seconds
        statistics.sentBytes = 1000
        statistics.receivedBytes = 2000
        statistics.users = 2
        statistics.sentKilobits = 32
        statistics.receivedKilobits = 33
        return statistics
    }
}
