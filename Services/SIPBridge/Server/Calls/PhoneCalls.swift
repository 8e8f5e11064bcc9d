internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// All telephone calls of a bridge: starts them on commands and INVITEs, and passes messages on to them.
@SIPThread
final class PhoneCalls {
    /// Identifies an INVITE, to recognise one that arrives by several ways (RFC 3261, 8.2.2.2).
    struct InviteKey: Hashable {
        var callID: String
        var tag: String
        var sequence: UInt32
    }

    /// Work that takes more than one step and is therefore done by a task of ``run()``.
    private enum Job: Sendable {
        case sendReports(PhoneCallDriver)
        case prepare(OutboundLeg)
        case admit(SIPServerRequest, InviteKey, [SIPTrunk])
    }

    private let configuration: SIPBridgeConfiguration
    nonisolated let bridge: BridgeID
    let logger: Logger
    let trunks: CachedRecords<AppID, SIPTrunk>
    let numbers: CachedRecords<String, SIPNumber>
    let admission: InviteAdmission
    private let reader: TrunkTableReader
    private let reports: CallReports
    private let registrations = TrunkRegistrations()
    private let registrationStore: RegistrationStore
    private let jobs: AsyncStream<Job>
    private let addJob: AsyncStream<Job>.Continuation

    /// What calls share; nil while SIP is not open.
    private(set) var resources: CallResources?
    private(set) var calls = CallTable()
    private var callsMade = 0
    /// INVITEs from trunks whose numbers are being looked up; true once the caller has cancelled.
    var pendingInvites: [InviteKey: Bool] = [:]
    /// Whether the bridge is stopping and accepts no more calls.
    private(set) var isDraining = false
    /// Whether the bridge cannot renew its lease; it then ends its calls and accepts none.
    private(set) var isCutOff = false

    init(
        bridge: BridgeID, configuration: SIPBridgeConfiguration, invitation: InvitationClient, pool: PostgresPool,
        logger: Logger
    ) {
        self.bridge = bridge
        self.configuration = configuration
        self.logger = logger
        let (trunkStore, numberStore) = (TrunkStore(pool: pool), NumberStore(pool: pool))
        trunks = CachedRecords { app throws(PostgresError) in try await trunkStore.find(app) }
        numbers = CachedRecords { number throws(PostgresError) in try await numberStore.find(number) }
        admission = InviteAdmission(realm: configuration.realm, numbers: numbers, logger: logger)
        reader = TrunkTableReader(store: trunkStore, logger: logger)
        registrationStore = RegistrationStore(pool: pool)
        reports = CallReports(invitation: invitation)
        // Bounded by the numbers of calls, pending INVITEs and commands in progress.
        (jobs, addJob) = AsyncStream.makeStream()
    }

    // MARK: - Start and stop

    /// Opens the SIP listeners.
    /// - Returns: the ports in use.
    func open() throws(SIPError) -> (port: Int, tlsPort: Int?) {
        let stack = try SIPStack(configuration.stack)
        let (admission, traces) = (admission, SIPTraceLog(tracesAll: configuration.tracesAll, logger: logger))
        stack.tracesAll = configuration.tracesAll
        stack.onRequest = { [unowned self] in arrived($0) }
        stack.onFurther2xx = { [unowned self] in receivedFurther2xx($0) }
        stack.onDrop = { PhoneMetrics.shared.count($0) }
        stack.isKnown = { !admission.table.trunks(at: $0).isEmpty }
        stack.onTrace = { traces.log($0) }
        resources = CallResources(
            bridge: bridge, stack: stack, media: configuration.media(contactHost: stack.contactHost),
            clock: MediaClock(), logger: logger)
        return (stack.port, stack.tlsPort)
    }

    /// Does the queued work, until cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for await job in jobs { tasks.addTask { await self.perform(job) } }
        }
    }

    private func perform(_ job: Job) async {
        switch job {
        case .sendReports(let driver): await reports.send(of: driver)
        case .prepare(let leg): await prepare(leg)
        case .admit(let request, let key, let trunks):
            await admit(request, from: trunks, key)
            pendingInvites[key] = nil
        }
    }

    /// Looks up the number of an INVITE when its turn comes.
    func admitLater(_ request: SIPServerRequest, _ key: InviteKey, from trunks: [SIPTrunk]) {
        addJob.yield(.admit(request, key, trunks))
    }

    /// Sends a call's messages to the invitation service; returns when they are sent.
    func sendReports(of driver: PhoneCallDriver) async { await reports.send(of: driver) }

    /// Ends all calls and refuses new ones (true), or accepts calls again (false).
    func cutOff(_ isCutOff: Bool) {
        self.isCutOff = isCutOff
        if isCutOff { abandonCalls(.bridgeLost) }
    }

    /// Whether SIP is open.
    var isOpen: Bool { resources != nil }

    /// Closes SIP; all calls have ended before.
    func close() {
        resources?.stack.close()
        resources = nil
    }

    /// Refuses new calls from now on.
    func startDraining() {
        isDraining = true
        registrations.stop()
    }

    /// Ends all calls that have not ended.
    func abandonCalls(_ reason: DialogReason) {
        for call in calls.ongoing where !call.isOver { call.step { $0.abandoned(reason) } }
    }

    /// What the shutdown must wait for: the number of calls that have not ended or whose end was not reported, and of
    /// registrations.
    var openEnds: Int { calls.active.union(reports.inProgress).count + registrations.endingCount }
    /// The number of calls that have not ended.
    var activeCalls: Int { calls.active.count }
    /// Whether the largest number of calls is reached.
    var isFull: Bool { activeCalls >= callBound }
    var callBound: Int { configuration.callBound }

    /// Reads the trunk table again; while PostgreSQL does not answer, the last one is kept.
    func readTrunks() async {
        guard let table = await reader.read() else { return }
        admission.table = table
        guard let resources else { return }
        do {
            try resources.stack.trust(only: Set(table.trunks.filter { $0.transport == .tls }.map(\.host)))
        } catch {
            logger.error("could not trust the trunks' host names for TLS", metadata: ["error": "\(error)"])
        }
        if !isDraining { registrations.follow(table.trunks, stack: resources.stack, logger: logger) }
    }

    /// Tells operators what has changed of the registrations; what cannot be told now is told with the next call.
    func tellRegistrations() async {
        PhoneMetrics.shared.unregistered.set(registrations.missingCount)
        let untold = registrations.book.takeUntold(atMost: RegistrationStore.portion)
        guard !untold.isEmpty else { return }
        let now = SIPLoop.now
        var notes: [RegistrationNote] = []
        for case (let app, let entry?) in untold {
            notes.append(RegistrationNote(app, entry.standing, remaining: entry.end - now))
        }
        do {
            try await registrationStore.tell(notes, of: bridge.rawValue)
            try await registrationStore.forget(untold.filter { $0.value == nil }.map(\.key), of: bridge.rawValue)
        } catch {
            logger.debug("could not tell of registrations", metadata: ["error": "\(error)"])
            registrations.book.putBack(untold.keys)
        }
    }

    // MARK: - Calls

    /// Generates a call id.
    func nextCallID() -> String {
        callsMade += 1
        return "\(bridge)-\(callsMade)"
    }

    /// Adds a new call.
    func add(_ driver: PhoneCallDriver) { calls.add(driver) }

    /// Registers a call's dialog, once it has a Call-ID.
    func register(_ driver: PhoneCallDriver) { calls.registerDialog(of: driver) }
}

extension PhoneCalls: PhoneCallOwner {
    func prepareLater(_ leg: OutboundLeg) { addJob.yield(.prepare(leg)) }

    func sendReportsLater(of driver: PhoneCallDriver) {
        guard !reports.inProgress.contains(driver.call.id) else { return }
        addJob.yield(.sendReports(driver))
    }

    func ended(_ driver: PhoneCallDriver) { calls.ended(driver) }

    func forget(_ driver: PhoneCallDriver) { calls.remove(driver) }
}

extension RegistrationNote {
    fileprivate init(_ app: AppID, _ standing: RegistrationStanding, remaining: Duration) {
        switch standing {
        case .registered: self.init(app: app, state: .registered, status: nil, remaining: remaining)
        case .refused(let status): self.init(app: app, state: .refused, status: status, remaining: remaining)
        case .unanswered: self.init(app: app, state: .unanswered, status: nil, remaining: remaining)
        }
    }
}

extension PhoneCalls.InviteKey {
    init(_ message: SIPMessage) {
        self.init(callID: message.callID, tag: message.from.tag ?? "", sequence: message.sequence)
    }
}
