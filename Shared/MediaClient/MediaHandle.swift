internal import MediaEngineLogic
internal import NIOCore
internal import NIOPosix
internal import SignalingProtocol

/// Gives any thread access to a running media call: what ``MediaChannel`` and `AgoraRtcEngineKit` are made of. Nothing
/// waits, and what one thread asks for is done in its order.
package struct MediaHandle: Sendable {
    private let eventLoop: any EventLoop
    private let driver: NIOLoopBoundBox<CallDriver>

    /// Makes a call that is not started yet.
    /// - Parameter sink: receives the events, in order, on the call's loop; must not wait.
    package init(configuration: MediaConfiguration, sink: @escaping @Sendable (MediaEvent) -> Void) {
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let driver = CallDriver(configuration: configuration, eventLoop: eventLoop, sink: sink)
        self.driver = .makeBoxSendingValue(driver, eventLoop: eventLoop)
    }

    /// Starts the devices and joins.
    package func start() { run { $0.start() } }

    /// Leaves; the last event, ``MediaEvent/ended(_:_:)``, says that it is done: at the latest after 3 s.
    package func leave() { run { $0.leave() } }

    /// Gives another key: ``MediaEvent/keyRenewed`` or ``MediaEvent/keyRefused(_:)`` follows.
    package func renew(key: String) { run { $0.renew(key: key) } }

    /// Sends nothing of what the device delivers, or sends it again; the others are told.
    package func muteLocalAudio(_ isMuted: Bool) { run { $0.set(.audioMuted, isMuted) } }

    /// Plays one user or not; what is asked for a user who is not there is kept until it comes.
    package func muteRemoteAudio(_ isMuted: Bool, uid: UInt32) { run { $0.audio?.incoming.mute(isMuted, uid: uid) } }

    /// Plays all users or none, those who come later too.
    package func muteAllRemoteAudio(_ isMuted: Bool) { run { $0.audio?.incoming.muteAll(isMuted) } }

    /// Reports volumes at that interval, from 100 ms on; 0 for never.
    package func reportVolumes(everyMilliseconds interval: Int, smooth: Int) {
        let interval = interval > 0 ? MediaInterval.milliseconds(max(interval, 100)) : nil
        run { $0.audio?.measureVolumes(every: interval, smooth: smooth, now: .now) }
    }

    /// Factors of what is sent and played, 0...4; 1 changes nothing.
    package func setGain(capture: Double? = nil, playback: Double? = nil) {
        run { $0.audio?.setGain(capture: capture, playback: playback) }
    }

    /// The factor of what is played of one user.
    func setGain(_ gain: Double, uid: UInt32) { run { $0.audio?.incoming.setGain(gain, uid: uid) } }

    /// Gives frames of one user, until the call ends.
    func add(_ listener: TrackListener) {
        run { driver in
            guard driver.phase != .ended, let audio = driver.audio else { return listener.continuation.finish() }
            audio.listeners.add(listener)
        }
    }

    /// Gives no more frames.
    func forget(_ listener: TrackListener) { run { $0.audio?.listeners.remove(listener) } }

    /// Tells others whether the user has video, and whether it is muted.
    package func setVideo(isEnabled: Bool? = nil, isMuted: Bool? = nil) {
        run { driver in
            if let isEnabled { driver.set(.videoEnabled, isEnabled) }
            if let isMuted { driver.set(.videoMuted, isMuted) }
        }
    }

    /// Does something with the call, on its loop, after all that was asked for before.
    func run(_ body: @escaping @Sendable (CallDriver) -> Void) {
        eventLoop.execute { [driver] in body(driver.value) }
    }
}
