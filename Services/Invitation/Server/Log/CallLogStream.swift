internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import Logging
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// The service's mirror stream, through which the call log gets to PostgreSQL. While PostgreSQL does not answer, calls
/// continue, and their entries wait in the stream.
struct CallLogStream: Sendable {
    private let redis: RedisClient

    init(redis: RedisClient) { self.redis = redis }

    /// Appends a separate entry. On a single Redis, changes of a call's record append their entries in the same step.
    /// - Parameter tag: that of the call's record. In a cluster the entry goes to the same server,
    ///   so that no other has to answer.
    func append(_ entry: CallLogEntry, of tag: String) async throws(SignalingError) {
        let partition = redis.bus.partition(of: .tagged(tag))
        _ = try await redis.answer(to: MirrorStream.recording(entry, for: .invitation, in: partition))
    }

    /// Encodes an entry for the stream.
    static func encode(_ entry: CallLogEntry) -> [UInt8] {
        var fields = FieldWriter()
        entry.write(to: &fields)
        return fields.encoded
    }

    /// How long the oldest entry has been waiting to be copied, from its time to the last full
    /// second; zero when there is none.
    func delay() async throws(SignalingError) -> Duration {
        var longest = Duration.zero
        for partition in redis.bus.partitions { longest = max(longest, try await delay(in: partition)) }
        return longest
    }

    private func delay(in partition: BusPartition) async throws(SignalingError) -> Duration {
        let replies = try await redis.answers(to: [
            RedisCommand("TIME").inSlot(partition.slot),
            RedisCommand("XRANGE", key: KeySpace.mirror(.changes(.invitation), in: partition), "-", "+", "COUNT", 1),
        ])
        let time = replies[0].array ?? []
        guard let entry = replies[1].array?.first?.array?.first?.string,
            let added = entry.split(separator: "-").first.flatMap({ RedisTime(text: String($0)) }),
            let now = RedisTime(seconds: time.first?.int, microseconds: 0)
        else { return .zero }
        return max(.zero, now - added)
    }

    /// Copies entries into PostgreSQL. One that PostgreSQL refuses permanently is dropped, with a metric and a log
    /// line.
    /// - Throws: `PostgresError` when PostgreSQL does not answer; the entries are then delivered again.
    static func copy(
        _ entries: [FieldReader], to store: CallStore, _ webhooks: WebhookOutbox, _ logger: Logger
    ) async throws(PostgresError) {
        // What cannot be read is reported below.
        try await webhooks.add(
            entries.compactMap { fields in (try? CallLogEntry(from: fields))?.webhookEvent })
        for fields in entries {
            let call: CallRecord
            do throws(SignalingError) { call = try record(fields) } catch {
                drop(fields.optionalString("id") ?? "", error.reason.rawValue, logger)
                continue
            }
            do throws(PostgresError) { try await store.record(call) } catch {
                guard error.isDataError else { throw error }
                drop(call.id, error.code, logger)
            }
        }
    }

    private static func record(_ fields: FieldReader) throws(SignalingError) -> CallRecord {
        let entry = try CallLogEntry(from: fields)
        let call = entry.call
        var record = CallRecord(
            id: call.id.rawValue, channel: call.channel,
            caller: CallRecord.Party(call.caller.account.rawValue, session: call.caller.session),
            callee: CallRecord.Party(call.callee.account.rawValue, session: call.callee.session),
            startedAt: call.startedAt)
        record.kind = call.phone?.role == .callee ? .phone : .user
        record.direction = call.direction
        record.acknowledgedAt = call.acknowledgedAt
        record.acceptedAt = call.acceptedAt
        record.endedAt = entry.endedAt
        record.endCode = entry.end?.code.rawValue
        if let phone = call.phone { record.sip = phone.record }
        return record
    }

    private static func drop(_ call: String, _ why: String, _ logger: Logger) {
        InvitationMetrics.shared.logEntriesDropped.increment()
        logger.error(
            "dropped a call log entry that cannot be kept", metadata: ["call": "\(call)", "error": "\(why)"])
    }
}

extension CallLogEntry {
    /// What webhooks tell: the latest of what the entry knows, because each change has an entry of its own.
    var webhookEvent: WebhookEvent {
        let state: WebhookCall.State
        if endedAt != nil {
            state = .ended
        } else if call.acceptedAt != nil {
            state = .accepted
        } else {
            state = call.acknowledgedAt == nil ? .invited : .ringing
        }
        let time = endedAt ?? call.acceptedAt ?? call.acknowledgedAt ?? call.startedAt
        var told = WebhookCall(
            id: call.id.rawValue, state: state, channel: call.channel.name, caller: call.caller.account.rawValue,
            callee: call.callee.account.rawValue, direction: call.direction.rawValue)
        told.endCode = endedAt == nil ? nil : end?.code.rawValue ?? 0
        // Calls are timed in milliseconds; the states of one that come together keep their order.
        let place = Int64(WebhookCall.State.allCases.firstIndex(of: state) ?? 0)
        return WebhookEvent(
            .call, in: call.channel.app, at: time.milliseconds * 1000 + place, .call(told), for: request)
    }
}

extension Call {
    /// Between which kinds of parties the call is.
    var direction: CallRecord.Direction {
        switch phone?.role {
        case .caller: .inbound
        case .callee: .outbound
        case nil: .internal
        }
    }
}
