internal import ClusterState
internal import Logging
internal import Metrics
internal import RedisStore
internal import SIPBridgeLogic
internal import ServiceKit
internal import SignalingProtocol
internal import Synchronization

/// Maintains the bridge's lease, and ends its calls when it cannot: without a lease the invitation service ends them
/// too.
final class BridgeLease: Sendable {
    /// How long after its last renewal the lease is about to end.
    private static let patience = BridgeID.fleet.timeToLive - BridgeID.fleet.interval
    /// How often that is checked.
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

    /// Creates the bridge's stream and its lease, as soon as Redis answers.
    /// - Throws: `CancellationError`.
    func begin() async throws {
        while true {
            do {
                try await orders.createStream()
                let sent = ContinuousClock.now
                _ = try await leases.heartbeat(bridge)
                renewed.withLock { $0 = sent }
                return
            } catch {
                logger.warning("could not begin the bridge's lease; trying again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Renews the lease periodically, until cancelled.
    func renew() async {
        while await Task.pause(BridgeID.fleet.interval) {
            do {
                let isDraining = await calls.isDraining
                let sent = ContinuousClock.now
                let wasHeld = try await leases.heartbeat(bridge, discoverable: !isDraining)
                renewed.withLock { $0 = sent }
                guard !wasHeld else { continue }
                // The invitation service may have ended the calls; the telephones would then talk to nobody.
                PhoneMetrics.leasesLost.increment()
                logger.error("the bridge's lease was lost: ending its calls")
                try await orders.createStream()
                await calls.abandonCalls(.bridgeLost)
            } catch {
                logger.warning("could not renew the bridge's lease", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Ends the calls while the lease cannot be renewed, until cancelled. A bridge that is cut off from Redis learns
    /// neither what its users do nor that the invitation service has ended a call.
    func watch() async {
        var isCutOff = false
        while await Task.pause(Self.watchInterval) {
            let isLate = renewed.withLock { $0.map { $0 + Self.patience < .now } ?? false }
            guard isLate != isCutOff else { continue }
            isCutOff = isLate
            if isLate {
                PhoneMetrics.cutOff.increment()
                logger.error(
                    "the bridge could not renew its lease: ending its calls", metadata: ["for": "\(Self.patience)"])
            }
            await calls.cutOff(isLate)
        }
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
