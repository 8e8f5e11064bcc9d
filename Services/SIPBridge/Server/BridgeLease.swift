internal import ClusterBus
internal import ClusterState
internal import Logging
internal import RedisClient
internal import SIPBridgeLogic
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import Synchronization

/// Maintains the bridge's lease, and ends its calls when it cannot: without a lease the invitation service ends them
/// too.
final class BridgeLease: Sendable {
    /// How long after its last renewal the lease is about to end.
    private static let patience = BridgeID.fleet.timeToLive - BridgeID.fleet.interval
    /// How often a renewal is looked for while there is none.
    private static let watchInterval = Duration.milliseconds(250)

    private let bridge: BridgeID
    private let leases: BridgeLeases
    private let orders: CommandConsumer
    private let calls: PhoneCalls
    private let logger: Logger
    /// When the last answered heartbeat was sent.
    private let renewed = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter orders: reads the bridge's own stream, which must exist as long as the lease.
    init(bridge: BridgeID, leases: BridgeLeases, orders: CommandConsumer, calls: PhoneCalls, logger: Logger) {
        self.bridge = bridge
        self.leases = leases
        self.orders = orders
        self.calls = calls
        self.logger = logger
    }

    /// Creates the bridge's stream and its lease, as soon as Redis answers. ``renew()`` lists the bridge: the master
    /// with the list may be away, for which nothing else waits.
    /// - Throws: `CancellationError`.
    func begin() async throws {
        while true {
            do {
                try await orders.createStream()
                _ = try await renewLease(isDraining: false)
                try await leases.watch(bridge)
                return
            } catch {
                logger.warning("could not begin the bridge's lease; trying again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Lists the bridge at once, and renews the lease periodically, until cancelled. A slow
    /// answer delays no further heartbeat.
    func renew() async {
        await withDiscardingTaskGroup { beats in
            beats.addTask { await self.show(isDraining: false) }
            while await Task.pause(BridgeID.fleet.interval) {
                let isDraining = await calls.isDraining
                beats.addTask { await self.keep(isDraining: isDraining) }
                beats.addTask { await self.show(isDraining: isDraining) }
            }
        }
    }

    /// Renews the lease once; ends the calls when it was lost.
    private func keep(isDraining: Bool) async {
        do {
            guard try await !renewLease(isDraining: isDraining) else { return }
            // The invitation service may have ended the calls; the telephones would then talk to nobody.
            PhoneMetrics.shared.leasesLost.increment()
            logger.error("the bridge's lease was lost: ending its calls")
            try await orders.createStream()
            await calls.abandonCalls(.bridgeLost)
        } catch {
            logger.warning("could not renew the bridge's lease", metadata: ["error": "\(error)"])
        }
    }

    /// Postpones the invitation service's check of the lease, and lists the bridge unless it drains.
    private func show(isDraining: Bool) async {
        do {
            try await leases.watch(bridge)
            if isDraining { try await leases.withdraw(bridge) } else { try await leases.announce(bridge) }
        } catch {
            logger.warning("could not show that the bridge lives", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: whether the lease existed.
    private func renewLease(isDraining: Bool) async throws(RedisError) -> Bool {
        let sent = ContinuousClock.now
        let wasHeld = try await leases.renew(bridge, isDraining: isDraining)
        // The answers of two heartbeats may arrive close together.
        renewed.withLock { $0 = max($0 ?? sent, sent) }
        return wasHeld
    }

    /// Ends the calls while the lease cannot be renewed, until cancelled. A bridge that is cut off from Redis learns
    /// neither what its users do nor that the invitation service has ended a call.
    func watch() async {
        var isCutOff = false
        while await Task.pause(untilLate(isCutOff: isCutOff)) {
            let isLate = renewed.withLock { $0.map { $0 + Self.patience < .now } ?? false }
            guard isLate != isCutOff else { continue }
            isCutOff = isLate
            if isLate {
                PhoneMetrics.shared.cutOff.increment()
                logger.error(
                    "the bridge could not renew its lease: ending its calls", metadata: ["for": "\(Self.patience)"])
            }
            await calls.cutOff(isLate)
        }
    }

    /// How long until the lease is about to end unless it is renewed.
    private func untilLate(isCutOff: Bool) -> Duration {
        let left = renewed.withLock { $0.map { $0 + Self.patience - .now } ?? .zero }
        return isCutOff ? Self.watchInterval : max(left, Self.watchInterval)
    }

    /// Ends the lease; called when no call is left.
    func giveBack() async {
        do {
            try await leases.leave(bridge)
        } catch {
            // The lease expires within seconds.
            logger.warning("could not give the bridge's lease back", metadata: ["error": "\(error)"])
        }
    }
}
