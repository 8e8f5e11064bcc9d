package import BusProtocol
package import ClusterState
internal import RedisClient
package import SignalingProtocol

/// A running process's description of itself, shown to operators by `heliographctl versions`.
package struct InstanceRecord: Equatable, Sendable {
    /// The kind of process, such as `presence`.
    package var kind: String
    /// The build's level.
    package var level: Int64
    /// The release's name.
    package var version: String
    /// The name of the machine or container.
    package var host: String
    /// When it joined.
    package var since: RedisTime
    /// How many files and sockets it may have open; nil without a limit, and for releases that do not tell.
    package var files: Int64?
    /// Whether it serves the server API; nil where that is not its work, and for releases that do not tell.
    package var servesAPI: Bool?
    /// What the ids of a gateway's shards begin with, by which its leases are found; nil for other processes, and for
    /// releases that do not tell.
    package var gateway: String?
    /// Whether the process has been asked to drain, which is written by ``RunningInstances/drain(_:on:)`` alone; nil
    /// when it has not.
    package var isDraining: Bool?

    package init(
        kind: String, level: Int64, version: String, host: String, since: RedisTime, files: Int64? = nil
    ) {
        self.kind = kind
        self.level = level
        self.version = version
        self.host = host
        self.since = since
        self.files = files
    }
}

extension InstanceRecord: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            kind: try fields.field("kind", \.kind),
            level: try fields.field("level", \.level),
            version: try fields.field("version", \.version),
            host: try fields.field("host", \.host),
            since: try fields.field("since", \.since),
            files: try fields.optional("files", \.files))
        servesAPI = try fields.optional("api", \.servesAPI)
        gateway = try fields.optional("gateway", \.gateway)
        isDraining = try fields.optional("drain", \.isDraining)
    }
}

extension RedisLayout.Flavour: FieldValue {}

extension RedisLayout: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            flavour: try fields.field("flavour", \.flavour),
            buckets: try fields.field("buckets", \.buckets),
            partitions: try fields.field("partitions", \.partitions),
            keys: try fields.field("keys", \.keys))
    }
}

extension FieldRecord {
    /// The names and values in turn, as arguments of HSET.
    var words: [RedisArgument] {
        var writer = FieldWriter()
        write(to: &writer)
        return writer.pairs.flatMap { [.string($0.name), .bytes($0.value)] }
    }

    /// Reads a hash; nil when there is none.
    /// - Throws: `SignalingError` when a field is missing or of another form.
    init?(hash reply: RedisValue) throws(SignalingError) {
        let parts = reply.array ?? []
        guard !parts.isEmpty else { return nil }
        var pairs: [(name: String, value: [UInt8])] = []
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            pairs.append((name: parts[index].string ?? "", value: parts[index + 1].bytes ?? []))
        }
        try self.init(from: FieldReader(pairs: pairs))
    }
}
