/// What a user talks with. Apps with a microphone supply one of their own.
///
/// Echo cancellation, noise suppression and gain control are the device's: the client sends what it is given.
public protocol AudioCapture: AnyObject, Sendable {
    /// Begins to deliver samples: 48 kHz, mono, any number at a time, at the pace at which they are recorded.
    ///
    /// - Parameter deliver: takes samples; called by one thread at a time, never waits. What comes faster than it is
    ///   sent, or after `stop`, is left out.
    /// - Throws: when the device cannot be used: a ``DeviceFailure`` or any other error, which is told to the app.
    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) throws

    /// Stops; `deliver` is not called after that. May be called without a start, and twice.
    func stop()

    /// Takes what is to be called when the device fails while it runs; called before each `start`.
    ///
    /// The app is told of the first failure in a call. The call goes on, and the device is not stopped: one that
    /// recovers is heard again. Does nothing by default, for devices that cannot fail.
    /// - Parameter report: takes what has happened, in a sentence; may be called by any thread, never waits.
    func reportFailures(to report: @escaping @Sendable (String) -> Void)
}

extension AudioCapture {
    /// For devices that cannot fail while they run.
    public func reportFailures(to report: @escaping @Sendable (String) -> Void) {}
}

/// What a user listens with. Apps with a loudspeaker supply one of their own.
public protocol AudioPlayback: AnyObject, Sendable {
    /// Begins to ask for samples: 48 kHz, mono, any number at a time, at the pace at which they are played.
    ///
    /// - Parameter request: fills all of the buffer; called by one thread at a time, never waits.
    /// - Throws: when the device cannot be used: a ``DeviceFailure`` or any other error, which is told to the app.
    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) throws

    /// Stops; `request` is not called after that. May be called without a start, and twice.
    func stop()

    /// Plays by the loudspeaker, or by the ear piece, where there are two. Does nothing by default.
    func route(speaker: Bool)

    /// Takes what is to be called when the device fails while it runs, as ``AudioCapture/reportFailures(to:)``.
    func reportFailures(to report: @escaping @Sendable (String) -> Void)
}

extension AudioPlayback {
    /// For devices that cannot fail while they run.
    public func reportFailures(to report: @escaping @Sendable (String) -> Void) {}

    /// For devices with one way to play.
    public func route(speaker: Bool) {}
}

/// What a user talks and listens with.
public struct MediaDevices: Sendable {
    /// What is sent; ``SilentCapture`` to listen only.
    public var capture: any AudioCapture
    /// What plays the others; ``SilentPlayback`` to talk only.
    public var playback: any AudioPlayback

    /// Makes a pair of devices. The defaults neither talk nor listen.
    public init(capture: any AudioCapture = SilentCapture(), playback: any AudioPlayback = SilentPlayback()) {
        self.capture = capture
        self.playback = playback
    }
}
