internal import Logging
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Acts when timers of presence fire.
struct PresenceTimerHandler: Sendable {
    /// After this long (ms) a session is looked at again while it is not known since when Redis answers.
    private static let pause: Int64 = 1000

    let functions: PresenceFunctions
    let ending: SessionEnding
    let cache: UserAttributeCache
    let gateways: GatewayWatch
    let uptime: RedisUptime
    let timers: DueTimers
    let logger: Logger

    func fired(_ timer: DueTimer) async throws {
        switch PresenceTimer(member: timer.member) {
        case .gateway(let gateway): try await gateways.check(gateway)
        case .session(let user, let session): try await look(at: session, of: user)
        // A process may have died between a commit and the cache.
        case .attributes(let user): try await cache.mend(user)
        case nil: logger.error("an unknown timer was dropped", metadata: ["service": "presence"])
        }
    }

    private func look(at session: SessionID, of user: UserKey) async throws {
        guard let since = uptime.since else {
            let later = try await functions.now() + Self.pause
            return try await timers.schedule(
                PresenceTimer.session(user, session).member, atMilliseconds: later)
        }
        switch try await functions.due(user, session, since: since) {
        case .ended(let ended):
            try await ending.carryOut(ended, of: user)
        case .wait(let until):
            try await timers.schedule(PresenceTimer.session(user, session).member, atMilliseconds: until)
        case .none:
            break
        }
    }
}
