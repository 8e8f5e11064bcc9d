internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import Logging
internal import MessageStore
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics
internal import SignalingProtocol

/// Ends calls whose records Redis has lost: they are in the call log without an end. The end is written to the log, and
/// the parties whose sessions still exist are informed.
actor CallReconciliation: Service {
    /// The number of calls read at a time, and per round.
    private static let page = 200
    private static let pages = 10
    /// When entries wait longer than this to be copied, the log is too old to compare with: an ended call's record is
    /// kept for twice as long.
    private static let delay = Duration.seconds(30)

    private let store: CallStore
    private let records: CallRecordStore
    private let ends: RecentEnds
    private let followed: FollowedEvents
    private let messages: MessageStore
    private let redis: RedisClient
    private let lock: RoundLock
    private let pause: Duration
    private let logger: Logger
    /// Where the next round starts; nil for the beginning.
    private var cursor: OpenCallCursor?

    /// - Parameter pause: the pause between two rounds, over all instances. Calls that began less than this ago are
    ///   skipped.
    init(_ driver: CallDriver, store: CallStore, redis: RedisClient, pause: Duration) {
        self.store = store
        records = driver.records
        ends = driver.ends
        followed = driver.followed
        messages = driver.messages
        logger = driver.logger
        self.redis = redis
        lock = RoundLock(key: KeySpace.callReconciliation, timeToLive: pause * 8 / 10, connection: redis)
        self.pause = pause
    }

    func run() async throws {
        await PeriodicTask(
            every: pause, jitter: 0.9...1.1, complaint: "could not compare the call log with the calls", level: .debug,
            logger: logger
        ).run {
            if try await self.lock.take() { try await self.compare() }
        }
    }

    private func compare() async throws {
        guard ends.isSettled, try await CallLogStream(redis: redis).delay() < Self.delay else { return }
        for _ in 0..<Self.pages {
            let (calls, next) = try await store.open(
                longerThan: pause, after: cursor, limit: Self.page)
            let held = try await records.ids(calls.map(\.tag))
            for (call, id) in zip(calls, held) where id?.rawValue != call.id { try await end(call) }
            cursor = next
            if next == nil { break }
        }
    }

    private func end(_ record: CallRecord) async throws {
        guard let call = Call(record) else { return }
        let now = try await redis.time()
        let command = CommandID(record.id).derived("lost")
        for (index, delivery) in call.lostDeliveries.enumerated() {
            let mail = CallMail(delivery, in: call.channel).message(command.derived("\(index)"), now: now)
            do throws(SignalingError) { _ = try await messages.sendToUser(mail) } catch {
                guard error.code == .messageOther else { throw error }
                InvitationMetrics.shared.eventsDropped.increment()
            }
        }
        let entry = CallLogEntry(call: call, endedAt: now, end: .lost)
        await followed.tell([entry])
        try await CallLogStream(redis: redis).append(entry, of: record.tag)
        InvitationMetrics.shared.callsLost.increment()
        logger.warning("ended a call whose record Redis has lost", metadata: ["call": "\(record.id)"])
    }
}

extension CallRecord {
    /// The hash tag of the call's record.
    fileprivate var tag: String {
        guard let caller = try? Account(caller.name), let callee = try? Account(callee.name) else {
            return "{}"
        }
        let (first, second) = caller < callee ? (caller, callee) : (callee, caller)
        return KeySpace.callTag(channel: channel, caller: first, callee: second)
    }
}

extension Call {
    /// Creates a call from a row; nil when the row contains invalid names.
    fileprivate init?(_ record: CallRecord) {
        guard let caller = try? Account(record.caller.name), let callee = try? Account(record.callee.name) else {
            return nil
        }
        let phone: PhoneLeg? =
            switch record.direction {
            case .internal: nil
            case .outbound: PhoneLeg(role: .callee)
            case .inbound: PhoneLeg(role: .caller)
            }
        self.init(
            id: CallID(record.id), channel: record.channel,
            caller: CallParty(account: caller, session: record.caller.session),
            callee: CallParty(account: callee, session: record.callee.session),
            startedAt: record.startedAt)
        self.phone = phone
        acknowledgedAt = record.acknowledgedAt
        acceptedAt = record.acceptedAt
    }
}
