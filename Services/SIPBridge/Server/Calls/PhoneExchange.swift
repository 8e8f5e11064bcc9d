internal import Logging
internal import Metrics
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// All calls of a bridge: brings commands, SIP messages and calls together.
@SIPThread
final class PhoneExchange {
    /// Names an INVITE, for one that comes by several ways (RFC 3261, 8.2.2.2).
    struct InviteKey: Hashable {
        var callID: String
        var tag: String
        var sequence: UInt32
    }

    /// What takes more than a step, and so is a task of ``run()``.
    private enum Job: Sendable {
        case pump(PhoneCallDriver)
        case prepare(PhoneCallDriver, extra: String)
        case admit(SIPServerRequest, InviteKey, [SIPTrunk])
    }

    let bridge: GatewayID
    let configuration: SIPBridgeConfiguration
    let port: InvitationPort
    let trunks: CachedRecords<AppID, SIPTrunk>
    let numbers: CachedRecords<String, SIPNumber>
    private let watch: TrunkWatch
    private var registrations = TrunkRegistrations()
    /// The ids of calls that are not over.
    private var active: Set<String> = []
    let logger: Logger

    var line: PhoneLine?
    var table = TrunkTable()
    var strangers = StrangerLimit()
    var digest: DigestServer
    /// INVITEs of trunks whose number is being looked up; true once the caller has cancelled.
    var pendingInvites: [InviteKey: Bool] = [:]
    var isDraining = false
    /// Whether the bridge cannot keep its lease: then nobody else knows of its calls.
    var isCutOff = false
    /// Traces that callers and trunks ask for, of all calls together, in a second: a log is finite.
    private var traces = AddressBudget(perSecond: 100, burst: 1000, maxAddresses: 1)
    /// Bytes of a message in a trace.
    private static let traceBytes = 4096
    private var calls: [String: PhoneCallDriver] = [:]
    private var dialogs: [String: [PhoneCallDriver]] = [:]
    private var callsMade = 0
    private let jobs: AsyncStream<Job>
    private let addJob: AsyncStream<Job>.Continuation
    /// Calls whose messages are being sent.
    private var pumping: Set<String> = []

    init(
        bridge: GatewayID, configuration: SIPBridgeConfiguration, port: InvitationPort, pool: PostgresPool,
        logger: Logger
    ) {
        self.bridge = bridge
        self.configuration = configuration
        self.port = port
        self.logger = logger
        let (trunkStore, numberStore) = (TrunkStore(pool: pool), NumberStore(pool: pool))
        trunks = CachedRecords { app throws(PostgresError) in try await trunkStore.find(app) }
        numbers = CachedRecords { number throws(PostgresError) in try await numberStore.find(number) }
        watch = TrunkWatch(store: trunkStore, logger: logger)
        // Bounded by the calls, the pending INVITEs and the commands in work.
        (jobs, addJob) = AsyncStream.makeStream()
        digest = DigestServer(realm: configuration.realm, secret: SecureRandom.hex(bytes: 16))
    }

    // MARK: - Life

    /// Binds SIP.
    /// - Returns: the ports in use.
    func open() throws(SIPError) -> (port: Int, tlsPort: Int?) {
        let stack = try SIPStack(configuration.stack)
        stack.tracesAll = configuration.tracesAll
        stack.onRequest = { [unowned self] in arrived($0) }
        stack.onStray2xx = { [unowned self] in strayed($0) }
        stack.onDrop = { PhoneMetrics.count($0) }
        stack.isKnown = { [unowned self] in !table.trunks(at: $0).isEmpty }
        stack.onTrace = { [unowned self, logger] record in
            guard mayTrace() else { return PhoneMetrics.tracesDropped.increment() }
            logger.info(
                "SIP trace",
                metadata: [
                    "sip_call_id": "\(record.callID)", "direction": record.isSent ? "sent" : "received",
                    "source": "\(record.source)", "destination": "\(record.destination)",
                    "message":
                        "\(SIPTraceText.redacted(String(decoding: record.text.utf8.prefix(Self.traceBytes), as: UTF8.self)))",
                ])
        }
        line = PhoneLine(
            bridge: bridge, stack: stack, media: configuration.media(contactHost: stack.contactHost),
            clock: MediaClock(), logger: logger)
        return (stack.port, stack.tlsPort)
    }

    /// Does what takes time, until cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for await job in jobs { tasks.addTask { await self.perform(job) } }
        }
    }

    private func perform(_ job: Job) async {
        switch job {
        case .pump(let driver): await pump(driver)
        case .prepare(let driver, let extra): await prepare(driver, extra)
        case .admit(let request, let key, let trunks):
            await admit(request, from: trunks, key)
            pendingInvites[key] = nil
        }
    }

    /// Looks the number of an INVITE up as soon as it is its turn.
    func admitLater(_ request: SIPServerRequest, _ key: InviteKey, from trunks: [SIPTrunk]) {
        addJob.yield(.admit(request, key, trunks))
    }

    /// The operator who has all calls traced wants all of them.
    private func mayTrace() -> Bool { configuration.tracesAll || traces.take("", now: SIPLoop.now) }

    /// Ends the calls and takes no more, or takes calls again.
    func cutOff(_ isCutOff: Bool) {
        self.isCutOff = isCutOff
        if isCutOff { abandonCalls(.bridgeLost) }
    }

    /// Whether calls can be made.
    var isOpen: Bool { line != nil }

    /// Ends SIP; calls are over by then.
    func close() {
        line?.stack.close()
        line = nil
    }

    /// Takes no more calls.
    func startDraining() {
        isDraining = true
        registrations.stop()
    }

    /// Ends what is left.
    func abandonCalls(_ reason: DialogReason) {
        for call in calls.values where !call.isOver { call.step { $0.abandoned(reason) } }
    }

    /// What the end has to wait for: calls that are not over, or whose end was not told yet, and registrations.
    var openEnds: Int { active.union(pumping).count + registrations.endingCount }
    /// Calls that are not over.
    var activeCalls: Int { active.count }

    /// Reads the trunk table anew; while PostgreSQL is away, what was known stays.
    func readTrunks() async {
        guard let table = await watch.read() else { return }
        self.table = table
        guard let line else { return }
        do {
            try line.stack.trust(only: Set(table.trunks.filter { $0.transport == .tls }.map(\.host)))
        } catch {
            logger.error("the trunks' names cannot be trusted", metadata: ["error": "\(error)"])
        }
        if !isDraining { registrations.follow(table.trunks, stack: line.stack, logger: logger) }
    }

    // MARK: - Commands

    /// Calls a telephone, unless another bridge does. Returns when that is clear: until then, should this process die,
    /// another bridge gets the command.
    func dial(_ command: DialPhone) async {
        guard calls[command.call.id] == nil else { return }  // It was delivered before.
        guard let line else { return }
        let driver = PhoneCallDriver(command.call, .outbound, line: line)
        let extra = command.extra
        driver.onPrepare = { [unowned self, unowned driver] in
            addJob.yield(.prepare(driver, extra: extra))
        }
        add(driver)
        driver.step { $0.dial() }
        await pump(driver)
    }

    /// Does what the user or the system did to a call.
    func order(_ command: OrderPhone) {
        guard let call = calls[command.call.id] else {
            // It crossed the call's end.
            logger.debug("an order for a call that is over", metadata: ["call": "\(command.call.id)"])
            return
        }
        call.ordered(command)
    }

    private func prepare(_ driver: PhoneCallDriver, _ extra: String) async {
        guard active.count <= configuration.callBound else {
            PhoneMetrics.callBoundHit.increment()
            return driver.unprepared(.inviteOther, .overloaded, "\(configuration.callBound) calls stand")
        }
        do {
            guard let trunk = try await trunks.find(driver.call.channel.app) else {
                return driver.unprepared(.inviteOther, .noTrunk, "the app has no trunk")
            }
            let ownsNumber = try await owns(OutboundPlan.shownNumber(driver.call, extra: extra), driver.call)
            driver.prepare(try OutboundPlan(driver.call, extra: extra, trunk: trunk, ownsNumber: ownsNumber))
            register(driver)
        } catch let problem as OutboundPlan.Problem {
            PhoneMetrics.countRefused(problem.reason)
            driver.unprepared(.inviteOther, problem.reason, problem.message)
        } catch {
            driver.unprepared(.inviteNetwork, .storeUnavailable, "\(error)")
        }
    }

    /// Whether a number, with or without its `+`, is one of the account's own.
    private func owns(_ number: String?, _ call: PhoneCall) async throws(PostgresError) -> Bool {
        guard let number else { return false }
        let user = UserKey(app: call.channel.app, account: call.user)
        for spelling in PhoneCaller.spellings(ofCalled: number) where try await numbers.find(spelling)?.user == user {
            return true
        }
        return false
    }

    // MARK: - Calls

    var isFull: Bool { active.count >= configuration.callBound }

    /// A fresh call id.
    func nextCallID() -> String {
        callsMade += 1
        return "\(bridge)-\(callsMade)"
    }

    func add(_ driver: PhoneCallDriver) {
        calls[driver.call.id] = driver
        active.insert(driver.call.id)
        PhoneMetrics.active.record(active.count)
        driver.onMessage = { [unowned self, unowned driver] in
            guard !pumping.contains(driver.call.id) else { return }
            addJob.yield(.pump(driver))
        }
        driver.onClose = { [unowned self, unowned driver] in
            active.remove(driver.call.id)
            PhoneMetrics.active.record(active.count)
        }
        driver.onForget = { [unowned self, unowned driver] in remove(driver) }
    }

    /// Makes a call's dialog known, once it has a Call-ID.
    func register(_ driver: PhoneCallDriver) {
        guard let id = driver.sipCallID, calls[driver.call.id] === driver else { return }
        dialogs[id, default: []].append(driver)
    }

    func drivers(_ callID: String) -> [PhoneCallDriver] { dialogs[callID] ?? [] }

    private func remove(_ driver: PhoneCallDriver) {
        calls[driver.call.id] = nil
        guard let id = driver.sipCallID else { return }
        dialogs[id]?.removeAll { $0 === driver }
        if dialogs[id]?.isEmpty == true { dialogs[id] = nil }
    }

    // MARK: - Messages to the invitation service

    /// Sends a call's messages, one after the other.
    private func pump(_ driver: PhoneCallDriver) async {
        guard pumping.insert(driver.call.id).inserted else { return }
        while let message = driver.nextMessage() {
            switch message {
            case .invitation(let invitation): await send(invitation, of: driver)
            case .report(let report): await send(report, of: driver)
            }
        }
        pumping.remove(driver.call.id)
    }

    private func send(_ invitation: InviteFromPhone, of driver: PhoneCallDriver) async {
        switch await port.send(invitation) {
        case .success(let standing):
            driver.step { $0.invitationAnswered(stands: standing.stands) }
        case .failure(let error):
            driver.logger.notice("the user cannot be invited", metadata: ["error": "\(error)"])
            driver.step { $0.invitationAnswered(stands: false, code: error.code) }
            // Without an answer the user may be ringing all the same.
            if error == .timeout() { driver.reportLost() }
        }
    }

    private func send(_ report: PhoneReport, of driver: PhoneCallDriver) async {
        let stands = await stands(report, driver.logger)
        switch report.act {
        case .claimed: driver.step { $0.claimAnswered(stands: stands) }
        case .ringing, .accepted, .message:
            guard !stands else { return }
            driver.logger.info("the call no longer stands")
            driver.step { $0.reportRefused() }
        case .refused, .failed, .ended: break  // It is over anyway.
        }
    }

    /// Whether the call stands after a report, which is sent again while nobody answers.
    private func stands(_ report: PhoneReport, _ logger: Logger) async -> Bool {
        for attempt in 1...Self.attempts {
            switch await port.send(report) {
            case .success(let standing):
                return standing.stands
            case .failure(let error):
                PhoneMetrics.reportsDropped.increment()
                logger.warning(
                    "a report was not taken",
                    metadata: ["act": "\(report.act.name)", "error": "\(error)", "attempt": "\(attempt)"])
                // A digit is not worth a call.
                if report.act == .message { return true }
            }
        }
        return false
    }

    /// How often a report is sent that nobody answers; each waits ``InvitationPort/patience``.
    private static let attempts = 3
}
