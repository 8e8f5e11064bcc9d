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
public final class SilentPlayback: AudioPlayback {
    /// Makes one.
    public init() {}

    /// Does nothing.
    public func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) {}

    /// Does nothing.
    public func stop() {}
}
