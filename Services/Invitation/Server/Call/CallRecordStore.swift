internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import MessageStore
internal import NIOCore
internal import RedisClient
internal import SignalingProtocol

/// The records of calls in Redis, through the functions of ``RedisFunctionLibrary/calls``.
struct CallRecordStore: Sendable {
    /// A call's record as read.
    struct Loaded {
        /// The time at which it was loaded.
        var now: RedisTime
        /// The actions of the command, if it was handled before.
        var done: [CallAction]?
        /// The record's version; 0 when there is no record.
        var version: Int64
        /// The call, if any.
        var snapshot: CallSnapshot?
    }

    /// The result of a commit.
    enum Committed {
        /// The new state is committed.
        /// - Parameter isFollowed: whether the server API follows the app's calls; nil when it is not known, because
        ///   the master of their log did not answer in time.
        case now(isFollowed: Bool?)
        /// The command was handled before, with these actions.
        case before([CallAction])
        /// The call was changed concurrently.
        case conflict
    }

    /// What Redis knows about a user.
    struct Party {
        /// The user's session; nil when offline.
        var session: SessionID?
        /// The user's numeric id; 0 when unknown.
        var uid: UInt32
        /// The number of the user's calls that have not ended.
        var calls: Int
    }

    /// The number of calls in one reply.
    private static let page = 250

    private let redis: RedisClient

    init(redis: RedisClient) { self.redis = redis }

    /// Whether the commit of a change also writes its entries of the call log. Not in a cluster, where
    /// the log is in another slot than the call: there they are written with the other consequences,
    /// which are repeated until all are done.
    var logsWithCommit: Bool { redis.bus.flavour == .single }

    func load(_ tag: String, command: CommandID) async throws(SignalingError) -> Loaded {
        let reply = try await call("call_load", tag, [.string(command.rawValue)])
        var parts = try FunctionReply(reply)
        let now = try parts.time()
        let done: [CallAction]? = if let bytes = try parts.next().bytes { try CallAction.decode(bytes) } else { nil }
        if done != nil { try await awaitReplicas(tag) }
        let version = try parts.int64()
        guard let fields = try parts.next().array else { throw .unreadableAnswer }
        var pairs: [(name: String, value: [UInt8])] = []
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            guard let name = fields[index].string, let value = fields[index + 1].bytes else { throw .unreadableAnswer }
            pairs.append((name: name, value: value))
        }
        let snapshot = version == 0 ? nil : try CallSnapshot(from: FieldReader(pairs: pairs))
        return Loaded(now: now, done: done, version: version, snapshot: snapshot)
    }

    func commit(
        _ tag: String, command: CommandContext, loaded version: Int64, _ snapshot: CallSnapshot, _ actions: [CallAction]
    ) async throws(SignalingError) -> Committed {
        var writer = FieldWriter()
        snapshot.write(to: &writer)
        var arguments: [RedisArgument] = [
            .string(command.id.rawValue), .deadline(command.deadline), .int(version),
            .milliseconds(snapshot.timeToLive),
            .bytes(CallAction.encode(actions)),
        ]
        var entries: [RedisArgument] = []
        if logsWithCommit {
            for case .log(let entry) in actions { entries.append(.bytes(CallLogStream.encode(entry))) }
        }
        arguments.append(.int(entries.count))
        arguments += entries
        for pair in writer.pairs {
            arguments.append(.string(pair.name))
            arguments.append(.bytes(pair.value))
        }
        let committing = RedisCommand.function(
            "call_commit", keys: logsWithCommit ? [tag, KeySpace.mirror(.changes(.invitation), in: .whole)] : [tag],
            arguments: arguments)
        // After the change, so that whoever follows the calls before it is told of it. Their log may be at a master
        // that is away.
        let tells = actions.contains { if case .log = $0 { true } else { false } }
        let asked = try await redis.answers(
            to: [committing.durable],
            thenAsking: tells ? [FollowedEvent.audience(of: .calls, in: snapshot.call.channel.app)] : [])
        var parts = try FunctionReply(asked.answers[0])
        switch try parts.int64() {
        case 0: return .now(isFollowed: tells ? asked.found[0].map { ServerAnnouncement.mayBeHeard($0) } : false)
        case 1: return .before(try CallAction.decode(try parts.bytes()))
        case 2: return .conflict
        default: throw .unreadableAnswer
        }
    }

    /// Waits as a commit does: the commit that a repeated command finds may have failed for want of replicas.
    private func awaitReplicas(_ tag: String) async throws(SignalingError) {
        do throws(RedisError) {
            try await redis.awaitReplicas(ofSlot: KeySlot.of(tag))
        } catch {
            throw error.signaling
        }
    }

    /// Writes an entry of the call log that no commit has written.
    func log(_ entry: CallLogEntry, of tag: String) async throws(SignalingError) {
        try await CallLogStream(redis: redis).append(entry, of: tag)
    }

    /// The ids of the calls in several records, ended or not; nil where there is no record. In one round trip.
    func ids(_ tags: [String]) async throws(SignalingError) -> [CallID?] {
        let replies = try await redis.answers(
            to: tags.map { RedisCommand("HGET", key: KeySpace.call(tag: $0), "id") })
        return replies.map { $0.string.map { CallID($0) } }
    }

    /// What Redis knows about a user.
    func party(_ user: UserKey) async throws(SignalingError) -> Party {
        try Self.party(try await redis.answer(to: Self.partyQuery(user)))
    }

    /// What Redis knows about two users, in one round trip.
    func parties(_ first: UserKey, _ second: UserKey) async throws(SignalingError) -> (Party, Party) {
        let replies = try await redis.answers(to: [Self.partyQuery(first), Self.partyQuery(second)])
        return (try Self.party(replies[0]), try Self.party(replies[1]))
    }

    private static func partyQuery(_ user: UserKey) -> RedisCommand {
        .function("call_party", tag: KeySpace.tag(user))
    }

    private static func party(_ reply: RedisValue) throws(SignalingError) -> Party {
        var parts = try FunctionReply(reply)
        let session = try parts.text()
        return Party(
            session: session.isEmpty ? nil : SessionID(session), uid: UInt32(try parts.text()) ?? 0,
            calls: try parts.int())
    }

    /// Adds a call to the list of a user's calls.
    func remember(_ call: CallReference, of user: UserKey) async throws(SignalingError) {
        try await remember(call, KeySpace.tag(user))
    }

    /// Removes a call from the list of a user's calls.
    func forget(_ call: CallReference, of user: UserKey) async throws(SignalingError) {
        _ = try await self.call("call_forget", KeySpace.tag(user), [.string(call.text)])
    }

    /// The list of a user's calls, oldest first.
    func calls(of user: UserKey) async throws(SignalingError) -> [CallReference] {
        try await calls(KeySpace.tag(user))
    }

    /// Adds a call to the list of a sip-bridge's calls.
    func hold(_ call: CallReference, by bridge: BridgeID) async throws(SignalingError) {
        try await remember(call, KeySpace.bridgeTag(bridge))
    }

    /// Removes a call from the list of a sip-bridge's calls.
    func release(_ call: CallReference, by bridge: BridgeID) async throws(SignalingError) {
        _ = try await self.call("call_forget", KeySpace.bridgeTag(bridge), [.string(call.text)])
    }

    /// The list of a sip-bridge's calls, oldest first.
    func calls(of bridge: BridgeID) async throws(SignalingError) -> [CallReference] {
        try await calls(KeySpace.bridgeTag(bridge))
    }

    /// Read in pages, so that no reply blocks Redis; a call that is added or removed meanwhile may be missing or occur
    /// twice.
    private func calls(_ tag: String) async throws(SignalingError) -> [CallReference] {
        var found: [CallReference] = []
        var passed = 0
        while true {
            let arguments: [RedisArgument] = [.int(passed), .int(Self.page)]
            guard let members = try await call("call_list", tag, arguments).array else { throw .unreadableAnswer }
            found += members.compactMap { $0.string.flatMap { CallReference(text: $0) } }
            passed += members.count
            if members.count < Self.page { return found }
        }
    }

    private func remember(_ call: CallReference, _ tag: String) async throws(SignalingError) {
        _ = try await self.call("call_remember", tag, [.string(call.text), .milliseconds(CallSnapshot.longestLife)])
    }

    private func call(
        _ function: String, _ tag: String, _ arguments: [RedisArgument]
    ) async throws(SignalingError) -> RedisValue {
        try await redis.answer(to: .function(function, tag: tag, arguments: arguments))
    }
}
