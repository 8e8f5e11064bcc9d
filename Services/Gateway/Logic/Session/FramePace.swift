package import Pacing

/// Bounds how many frames a connection may send that nothing else bounds: pings, calls that are refused, and all frames
/// before the login. Beyond it the connection's frames wait, and it is not read from.
///
/// Calls that are accepted are bounded by ``SessionRates``; here only those of ``frameBytes`` and more count.
package struct FramePace: Sendable {
    /// Frames per second before the login, after a burst of ``freshBurst``.
    package static let freshPerSecond = 10
    /// Frames at once before the login. Clients send a login, and perhaps a ping.
    package static let freshBurst = 50
    /// Frames per second of a session, after a burst of ``burst``. Clients ping every few seconds.
    package static let perSecond = 100
    /// Frames at once of a session after a quiet time.
    package static let burst = 500
    /// Each so many bytes of a frame count as one more frame.
    package static let frameBytes = 16_384
    /// How long frames wait before the next ones are handled: so many as the time allows.
    package static let pause = Duration.milliseconds(500)

    private var bucket = TokenBucket(perSecond: freshPerSecond, burst: freshBurst)
    /// Whether frames must wait, until ``allowsFrame(now:)``.
    package private(set) var isSpent = false

    /// The pace of a new connection.
    package init() {}

    /// Allows what a session may do, because there is one.
    package mutating func raise() {
        bucket = TokenBucket(perSecond: Self.perSecond, burst: Self.burst)
        isSpent = false
    }

    /// Counts a frame of so many bytes.
    package mutating func charge(bytes: Int, now: LocalTime) {
        // Refills the bucket up to now.
        _ = bucket.has(now: now)
        bucket.charge(1 + bytes / Self.frameBytes)
        isSpent = !bucket.has(now: now)
    }

    /// Counts the size of a frame that is bounded otherwise.
    package mutating func chargeSize(bytes: Int, now: LocalTime) {
        if bytes >= Self.frameBytes { charge(bytes: bytes - Self.frameBytes, now: now) }
    }

    /// Whether the next frame may be handled.
    package mutating func allowsFrame(now: LocalTime) -> Bool {
        isSpent = !bucket.has(now: now)
        return !isSpent
    }
}
