internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import PresenceLogic
internal import RedisClient
internal import SignalingProtocol

/// Handles the timers of presence.
struct PresenceTimerHandler: Sendable {
    /// How long to wait before a session is checked again, while it is unknown since when Redis has been answering.
    private static let pause = Duration.seconds(1)

    let functions: PresenceFunctions
    let ending: SessionEnding
    let cache: UserAttributeCache
    let gateways: LostGateways
    let uptime: RedisUptime
    let timers: ServiceTimers<PresenceTimer>

    func fired(_ timer: PresenceTimer) async throws(SignalingError) {
        switch timer {
        case .gateway(let gateway): try await gateways.check(gateway)
        case .session(let user, let session): try await check(session, of: user)
        // A process may have died after a commit in PostgreSQL and before the cache was updated.
        case .attributes(let user): try await cache.resynchronize(user)
        }
    }

    private func check(_ session: SessionID, of user: UserKey) async throws(SignalingError) {
        guard let since = await uptime.since(ofSlot: KeySpace.slot(of: .user(user))) else {
            return try await timers.set(.session(user, session), after: Self.pause)
        }
        switch try await functions.due(user, session, since: since) {
        case .ended(let ended):
            // The partition's other timers wait for this one, which therefore does not wait for a master that is away.
            let isDone = await ending.begin(ended, of: user)
            if !isDone { try await timers.set(.session(user, session), after: SessionEnding.patience) }
        case .wait(let until): try await timers.set(.session(user, session), at: until)
        case .none: break
        }
    }
}
