internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// The app of a bench, which nobody else uses: everything that the bench leaves is found by it.
struct BenchApp: Sendable {
    /// How long the cluster may take to end the users' sessions after they have logged out.
    private static let patience = Duration.seconds(30)
    /// After this time, sessions that have not ended are ended by an operator's order: those of users whose login was
    /// given up, or whose logout got no answer.
    private static let kickAfter = Duration.seconds(3)
    private static let pause = Duration.milliseconds(500)
    /// How many users are looked at and disconnected at a time.
    private static let page = 1000

    let id: AppID

    /// Makes an app that lets everybody in and does not limit what its users send.
    static func make() async throws -> BenchApp {
        let app = BenchApp(id: try AppID("bench-\(SecureRandom.hex(bytes: 8))"))
        var limits = AppLimits()
        limits.messagesPerSecond = AppLimit.unlimited
        limits.actsPerSecond = AppLimit.unlimited
        try await Database.with { [limits] pool in
            _ = try await AppStore(pool: pool).create(
                id: app.id, certificate: Certificate.random().text, tokenRequired: false, limits: limits)
        }
        return app
    }

    /// Waits until all sessions have ended, and removes the app with its rows.
    ///
    /// The rows of sessions are written by presence when it ends them. If the app were removed before, they would come
    /// back.
    /// - Returns: how many sessions had not ended in time.
    /// - Throws: ``Failure`` that says how to remove the app by hand.
    func remove() async throws -> Int {
        var left = 0
        do {
            try await Database.with { pool in
                left = try await endSessions(pool)
                _ = try await AppStore(pool: pool).remove(id)
            }
        } catch {
            let reason = (error as? PostgresError).map { Failure($0) } ?? error as? Failure
            throw Failure(
                message: "the app of the run is still there; remove it with heliographctl app remove \(id): "
                    + (reason?.message ?? "\(error)"),
                code: reason?.code ?? 1)
        }
        return left
    }

    /// Waits until PostgreSQL's copy has had no session twice: a login that was given up may still be on its way.
    private func endSessions(_ pool: PostgresPool) async throws -> Int {
        let records = AppRecords(store: RecordListStore(pool: pool), app: id)
        let begin = ContinuousClock.now
        var looks = 0
        var online: [Account] = []
        while ContinuousClock.now - begin < Self.patience {
            online = try await records.page(.online, try PageOptions.first(Self.page)) { _ in "" }.records
                .compactMap { record in record.json["account"]?.string.flatMap { try? Account($0) } }
            looks = online.isEmpty ? looks + 1 : 0
            if looks == 2 { return 0 }
            if !online.isEmpty, ContinuousClock.now - begin >= Self.kickAfter {
                // Without Redis they cannot be ended; that is what the number of those left tells.
                try? await disconnect(online)
            }
            try? await Task.sleep(for: Self.pause)
        }
        return online.count
    }

    /// The order that `user kick` gives.
    private func disconnect(_ accounts: [Account]) async throws {
        try await ControlRedis.withConnection(libraries: [.streams]) { connection in
            for account in accounts {
                let command = DisconnectUser(user: UserKey(app: id, account: account))
                let order = CommandID("bench-\(SecureRandom.hex(bytes: 12))")
                _ = try await connection.execute(PostedCommand.command(on: connection.bus, for: command, id: order))
            }
        }
    }
}
