internal import Logging
internal import PostgresStore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// The stream of changes of sessions that is copied into PostgreSQL.
enum PresenceMirror {
    static func entry(_ row: PresenceMirrorRow) -> RedisCommand {
        var fields = FieldWriter()
        fields.put("app", row.user.app.rawValue)
        fields.put("account", row.user.account.rawValue)
        fields.put("version", row.version)
        fields.put("present", row.present)
        fields.put("uid", row.uid)
        fields.put("session", row.session.rawValue)
        fields.put("gateway", row.gateway.rawValue)
        fields.put("device", row.device)
        fields.put("detached", row.detached)
        fields.put("since", row.since)
        return MirrorStream.recording(fields, for: .presence)
    }

    static func row(_ reader: FieldReader) throws(SignalingError) -> PresenceMirrorRow {
        PresenceMirrorRow(
            user: UserKey(
                app: try AppID(reader.string("app")), account: try Account(reader.string("account"))),
            version: try reader.int64("version"), present: try reader.bool("present"), uid: try reader.uint32("uid"),
            session: SessionID(try reader.string("session")), gateway: GatewayID(try reader.string("gateway")),
            device: try reader.string("device"), detached: try reader.bool("detached"),
            since: try reader.int64("since"))
    }
}

extension PresenceMirror {
    /// What copies entries; rows of those who have long been absent are deleted once a minute along the way.
    static func copier(
        into store: MirrorStore, logger: Logger
    ) -> @Sendable ([FieldReader]) async throws -> Void {
        let pruning = MirrorPruning(store: store, logger: logger)
        return { readers in
            var rows: [PresenceMirrorRow] = []
            for reader in readers {
                do throws(SignalingError) {
                    rows.append(try row(reader))
                } catch {
                    logger.error("a mirror entry could not be read", metadata: ["error": "\(error)"])
                }
            }
            try await store.sessions(rows)
            await pruning.pruneIfDue()
        }
    }
}

/// Keeps the mirrors' tables from growing: old rows are looked for once a minute, and again soon where there were many.
private actor MirrorPruning {
    private let store: MirrorStore
    private let logger: Logger
    private var next = ContinuousClock.now

    init(store: MirrorStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func pruneIfDue() async {
        guard ContinuousClock.now >= next else { return }
        next = .now + .seconds(60)
        do {
            if try await store.prune() >= MirrorStore.pruneBatch { next = .now + .seconds(1) }
        } catch {
            logger.warning("old mirror rows were not deleted", metadata: ["error": "\(error)"])
        }
    }
}
