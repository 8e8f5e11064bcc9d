internal import Pacing
internal import SIPBridgeLogic

/// The 20 ms clock of all calls: a single timer, because libre keeps its timers in one sorted list. It runs while there
/// are sessions.
@SIPThread
final class MediaClock {
    private var sessions: [ObjectIdentifier: MediaSession] = [:]
    private var timer: SIPTimer?
    /// When the next tick is due.
    private var next = SIPLoop.now

    /// The number of running sessions.
    var count: Int { sessions.count }

    func add(_ session: MediaSession) {
        sessions[ObjectIdentifier(session)] = session
        guard timer == nil else { return }
        timer = SIPTimer { [weak self] in self?.tickAll() }
        next = SIPLoop.now
        schedule()
    }

    func remove(_ session: MediaSession) {
        sessions[ObjectIdentifier(session)] = nil
        if sessions.isEmpty { timer = nil }
    }

    private func tickAll() {
        let now = SIPLoop.now
        // A tick may stop its own session or others; the tick of a stopped session does nothing.
        for session in Array(sessions.values) { session.tick(now: now) }
        schedule()
    }

    /// Counted from the last due time rather than from now, so that delays do not add up.
    private func schedule() {
        let now = SIPLoop.now
        next = max(next + MediaSender.frame, now + .milliseconds(1))
        timer?.start(after: next - now)
    }
}
