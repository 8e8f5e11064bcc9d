internal import ClusterState
internal import Logging
internal import MessageStore
internal import Metrics
internal import RedisStore
internal import SIPBridgeLogic
internal import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization

/// The bridge's life: its lease, its trunks, and a stop that lets calls end.
final class SIPBridgeService: Service {
    /// How long BYEs and last reports may take at the end.
    static let farewell = Duration.seconds(5)

    private let bridge: GatewayID
    private let configuration: SIPBridgeConfiguration
    private let calls: PhoneCalls
    private let invitation: InvitationClient
    private let orders: CommandConsumer
    private let leases: GatewayLeases
    private let logger: Logger
    private let bound = Mutex<Int?>(nil)
    /// When the last heartbeat that was answered was sent.
    private let renewed = Mutex<ContinuousClock.Instant?>(nil)

    /// A lease that was not renewed for so long is about to end, and the calls with it: by then nobody pays for them any more.
    private static let patience = Duration.milliseconds(LeaseFleet.bridges.timeToLive - LeaseFleet.bridges.interval)
    /// Between two looks at it.
    private static let leaseLook = Duration.milliseconds(250)

    init(
        bridge: GatewayID, configuration: SIPBridgeConfiguration, calls: PhoneCalls, invitation: InvitationClient,
        orders: CommandConsumer, leases: GatewayLeases, logger: Logger
    ) {
        self.bridge = bridge
        self.configuration = configuration
        self.calls = calls
        self.invitation = invitation
        self.orders = orders
        self.leases = leases
        self.logger = logger
    }

    /// The SIP port in use; nil while not listening.
    var sipPort: Int? { bound.withLock { $0 } }
    /// Whether the invitation service's answers can come.
    var isConnected: Bool { invitation.isConnected }

    func run() async throws {
        try await invitation.start()
        try await enroll()
        await calls.readTrunks()
        let ports = try await calls.open()
        bound.withLock { $0 = ports.port }
        logger.notice(
            "SIP is up",
            metadata: [
                "address": "\(configuration.host):\(ports.port)", "tls": "\(ports.tlsPort.map(String.init) ?? "none")",
                "bridge": "\(bridge)",
            ])
        await withTaskGroup { tasks in
            tasks.addTask { await self.calls.run() }
            tasks.addTask { await self.beat() }
            tasks.addTask { await self.watchLease() }
            tasks.addTask { await self.follow() }
            try? await gracefulShutdown()
            await drain()
            tasks.cancelAll()
        }
        do {
            try await leases.leave(bridge)
        } catch {
            // It ends by itself within seconds.
            logger.warning("the bridge's lease cannot be given back", metadata: ["error": "\(error)"])
        }
        bound.withLock { $0 = nil }
        await calls.close()
        await invitation.stop()
    }

    /// Makes the bridge's stream and begins its lease, as soon as Redis is there.
    private func enroll() async throws {
        while true {
            do {
                try await orders.createStream()
                let sent = ContinuousClock.now
                _ = try await leases.heartbeat(bridge, text: "{}")
                renewed.withLock { $0 = sent }
                return
            } catch {
                logger.warning("the bridge cannot begin yet", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func beat() async {
        while await pause(.milliseconds(LeaseFleet.bridges.interval)) {
            do {
                let isDraining = await calls.isDraining
                let sent = ContinuousClock.now
                let wasHeld = try await leases.heartbeat(bridge, text: "{}", discoverable: !isDraining)
                renewed.withLock { $0 = sent }
                guard !wasHeld else { continue }
                // The invitation service may have ended the calls; their users would talk to nobody.
                PhoneMetrics.leasesLost.increment()
                logger.error("the bridge's lease was lost: its calls end")
                try await orders.createStream()
                await calls.abandonCalls(.bridgeLost)
            } catch {
                logger.warning("the bridge's lease cannot be renewed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Ends the calls while the lease cannot be renewed: who is cut off from Redis hears neither users nor the watcher.
    private func watchLease() async {
        var isCutOff = false
        while await pause(Self.leaseLook) {
            let isLate = renewed.withLock { $0.map { $0 + Self.patience < .now } ?? false }
            guard isLate != isCutOff else { continue }
            isCutOff = isLate
            if isLate {
                PhoneMetrics.cutOff.increment()
                logger.error(
                    "the bridge could not renew its lease: its calls end", metadata: ["for": "\(Self.patience)"])
            }
            await calls.cutOff(isLate)
        }
    }

    private func follow() async {
        while await pause(TrunkTableReader.pause) { await calls.readTrunks() }
    }

    /// - Returns: false when the bridge stops.
    private func pause(_ duration: Duration) async -> Bool {
        do {
            try await Task.sleep(for: duration)
            return true
        } catch {
            return false
        }
    }

    /// Lets calls end by themselves up to the deadline, then ends them.
    private func drain() async {
        await calls.startDraining()
        let count = await calls.activeCalls
        logger.notice("draining", metadata: ["calls": "\(count)", "deadline": "\(configuration.drainTime)"])
        await waitForEnd(until: .now + configuration.drainTime) { await self.calls.activeCalls }
        await calls.abandonCalls(.bridgeStopped)
        await waitForEnd(until: .now + Self.farewell) { await self.calls.openEnds }
    }

    private func waitForEnd(until deadline: ContinuousClock.Instant, _ count: () async -> Int) async {
        while await count() > 0, ContinuousClock.now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
