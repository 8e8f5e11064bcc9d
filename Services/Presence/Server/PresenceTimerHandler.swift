internal import Logging
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Acts when timers of presence fire.
struct PresenceTimerHandler: Sendable {
    let functions: PresenceFunctions
    let ending: SessionEnding
    let cache: UserAttributeCache
    let gateways: GatewayWatch
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
        switch try await functions.due(user, session) {
        case .ended(let ended):
            try await ending.carryOut(ended, of: user)
        case .wait(let until):
            try await timers.schedule(PresenceTimer.session(user, session).member, atMilliseconds: until)
        case .none:
            break
        }
    }
}
