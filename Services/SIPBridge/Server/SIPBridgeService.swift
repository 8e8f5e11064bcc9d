internal import Logging
internal import SIPBridgeLogic
internal import ServiceKit
internal import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization

/// Runs the bridge: its lease, SIP, its trunks, and a shutdown that lets calls end.
final class SIPBridgeService: Service {
    /// How long BYEs and last reports may take after the shutdown has ended the calls.
    static let finishTime = Duration.seconds(5)

    private let configuration: SIPBridgeConfiguration
    private let calls: PhoneCalls
    private let invitation: InvitationClient
    private let lease: BridgeLease
    private let logger: Logger
    private let boundPort = Mutex<Int?>(nil)

    init(
        configuration: SIPBridgeConfiguration, calls: PhoneCalls, invitation: InvitationClient, lease: BridgeLease,
        logger: Logger
    ) {
        self.configuration = configuration
        self.calls = calls
        self.invitation = invitation
        self.lease = lease
        self.logger = logger
    }

    /// The SIP port in use; nil while not listening.
    var sipPort: Int? { boundPort.withLock { $0 } }
    /// Whether replies of the invitation service can arrive.
    var isConnected: Bool { invitation.isConnected }

    func run() async throws {
        try await invitation.start()
        try await lease.begin()
        await calls.readTrunks()
        try await openSIP()
        await withTaskGroup { tasks in
            tasks.addTask { await self.calls.run() }
            tasks.addTask { await self.lease.renew() }
            tasks.addTask { await self.lease.watch() }
            tasks.addTask { await self.followTrunks() }
            try? await gracefulShutdown()
            await drain()
            tasks.cancelAll()
        }
        await lease.giveBack()
        boundPort.withLock { $0 = nil }
        await calls.close()
        await invitation.stop()
    }

    private func openSIP() async throws {
        let ports = try await calls.open()
        boundPort.withLock { $0 = ports.port }
        logger.notice(
            "listening for SIP",
            metadata: [
                "address": "\(configuration.host):\(ports.port)", "tls": "\(ports.tlsPort.map(String.init) ?? "none")",
                "bridge": "\(calls.bridge)",
            ])
    }

    private func followTrunks() async {
        while await Task.pause(TrunkTableReader.pause) {
            await calls.readTrunks()
            await calls.tellRegistrations()
        }
    }

    /// Waits for calls to end by themselves until the deadline, then ends the others.
    private func drain() async {
        await calls.startDraining()
        let count = await calls.activeCalls
        logger.notice("draining", metadata: ["calls": "\(count)", "deadline": "\(configuration.drainTime)"])
        await waitForEnd(until: .now + configuration.drainTime) { await self.calls.activeCalls }
        await calls.abandonCalls(.bridgeStopped)
        await waitForEnd(until: .now + Self.finishTime) { await self.calls.openEnds }
        await calls.tellRegistrations()
    }

    private func waitForEnd(until deadline: ContinuousClock.Instant, _ count: () async -> Int) async {
        while await count() > 0, ContinuousClock.now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(50))
        }
    }
}
