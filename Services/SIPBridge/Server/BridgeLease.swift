internal import ClusterState
internal import Logging
internal import Metrics
internal import RedisStore
internal import SIPBridgeLogic
internal import SignalingProtocol
internal import Synchronization

/// Keeps the bridge's lease, and ends its calls when it cannot: without the lease, the invitation service ends them too.
final class BridgeLease: Sendable {
    /// A lease that was not renewed for so long is about to end.
    private static let patience = Duration.milliseconds(BridgeID.fleet.timeToLive - BridgeID.fleet.interval)
    /// How often that is looked at.
    private static let watchInterval = Duration.milliseconds(250)

    private let bridge: BridgeID
    private let leases: BridgeLeases
    private let orders: CommandConsumer
    private let calls: PhoneCalls
    private let logger: Logger
    /// When the last heartbeat that was answered was sent.
    private let renewed = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter orders: reads the bridge's own stream, which must be there while the lease is.
    init(bridge: BridgeID, leases: BridgeLeases, orders: CommandConsumer, calls: PhoneCalls, logger: Logger) {
        self.bridge = bridge
        self.leases = leases
        self.orders = orders
        self.calls = calls
        self.logger = logger
    }

    /// Makes the bridge's stream and begins its lease, as soon as Redis is there.
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

    /// Renews the lease at its interval, until cancelled.
    func renew() async {
        while await Task.pause(.milliseconds(BridgeID.fleet.interval)) {
            do {
                let isDraining = await calls.isDraining
                let sent = ContinuousClock.now
                let wasHeld = try await leases.heartbeat(bridge, discoverable: !isDraining)
                renewed.withLock { $0 = sent }
                guard !wasHeld else { continue }
                // The invitation service may have ended the calls; their users would talk to nobody.
                PhoneMetrics.leasesLost.increment()
                logger.error("the bridge's lease was lost: ending its calls")
                try await orders.createStream()
                await calls.abandonCalls(.bridgeLost)
            } catch {
                logger.warning("could not renew the bridge's lease", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Ends the calls while the lease cannot be renewed, until cancelled: a bridge that is cut off from Redis hears neither its
    /// users nor that the invitation service ended a call.
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

    /// Gives the lease back, when no call is left.
    func giveBack() async {
        do {
            try await leases.leave(bridge)
        } catch {
            // It ends by itself within seconds.
            logger.warning("could not give the bridge's lease back", metadata: ["error": "\(error)"])
        }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Waits.
    /// - Returns: false when the task was cancelled.
    static func pause(_ duration: Duration) async -> Bool {
        do {
            try await sleep(for: duration)
            return true
        } catch {
            return false
        }
    }
}
