/// Delivers nothing: for users who only listen.
public final class SilentCapture: AudioCapture {
    /// Makes one.
    public init() {}

    /// Does nothing.
    public func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) {}

    /// Does nothing.
    public func stop() {}
}

/// Plays nothing: for users who only talk.
///
/// It asks for samples at the pace of a loudspeaker, and forgets them: so volumes, statistics and what waits for its
/// turn are those of a user who listens.
public final class SilentPlayback: AudioPlayback {
    private let playback: PacedPlayback<NoSink>

    /// Makes one.
    public convenience init() { self.init(pacer: LoopPacer()) }

    init(pacer: any Pacer) { playback = PacedPlayback(NoSink(), pacer: pacer) }

    /// Begins to ask for samples.
    public func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {
        playback.start(request)
    }

    /// Stops.
    public func stop() { playback.stop() }
}

/// Keeps nothing.
struct NoSink: SampleSink {
    let failure: AudioFileError? = nil

    func put(_ samples: [Int16]) {}
    func finish() {}
}
