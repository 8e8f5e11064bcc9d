internal import InvitationLogic
public import Logging
internal import MessageStore
internal import NIOPosix
public import PostgresStore
public import RedisStore
public import ServiceKit
public import ServiceLifecycle
internal import SignalingProtocol

/// The service of calls: takes their commands, keeps their timers, and writes the call log.
///
/// Any number of instances share the work; all state is in Redis, and the call log in PostgreSQL.
public struct InvitationService: Service {
    private let connection: RedisConnection
    private let pool: PostgresPool
    private let handler: CallHandler
    private let timers: DueTimers
    private let consumer: CommandConsumer
    private let mirror: MirrorConsumer
    private let logger: Logger

    /// Makes an instance; ``run()`` connects.
    /// - Parameter instance: this process's name, unique among the instances of the service.
    public init(
        configuration: InvitationConfiguration = InvitationConfiguration(), redis: RedisConfiguration,
        postgres: PostgresConfiguration, instance: String, logger: Logger
    ) {
        self.logger = logger
        connection = RedisConnection(
            configuration: redis, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [CallRecordStore.library, MessageStore.library, DueTimers.library], logger: logger)
        pool = PostgresPool(
            configuration: postgres, connections: configuration.postgresConnections, logger: logger)
        timers = DueTimers(service: .invitation, connection: connection)
        let records = CallRecordStore(connection: connection)
        let handler = CallHandler(
            driver: CallDriver(
                records: records, messages: MessageStore(connection: connection), timers: timers,
                log: CallLogStream(connection: connection), durations: configuration.durations, logger: logger),
            records: records)
        self.handler = handler
        var router = CommandRouter()
        router.on(CallAct.self) { command, context throws(SignalingError) in try await handler.act(command, context) }
        router.on(EndSessionCalls.self) { command, context throws(SignalingError) in
            try await handler.endCalls(command, context)
        }
        consumer = CommandConsumer(
            service: .invitation, instance: instance, configuration: redis, connection: connection, router: router,
            logger: logger)
        let store = CallStore(pool: pool)
        mirror = MirrorConsumer(
            service: .invitation, instance: instance, configuration: redis, connection: connection, logger: logger
        ) { entries in
            try await CallLogStream.copy(entries, to: store, logger)
        }
    }

    /// Makes the instance that a process's settings describe.
    /// - Throws: `RedisError` or `PostgresError` for a URL that cannot be read.
    public init(
        _ service: ServiceConfiguration, configuration: InvitationConfiguration, logger: Logger
    ) throws {
        self.init(
            configuration: configuration, redis: try RedisConfiguration(url: service.redisURL),
            postgres: try PostgresConfiguration(url: service.postgresURL), instance: service.instance, logger: logger)
    }

    /// Redis, without which no call proceeds, and PostgreSQL, without which the call log waits.
    public var readiness: [ReadinessCheck] {
        [
            ReadinessCheck(name: "redis") { [connection] in connection.isConnected ? nil : "no connection" },
            ReadinessCheck(name: "postgres") { [pool] in
                do throws(PostgresError) { try await pool.ping() } catch { return error.description }
                return nil
            },
        ]
    }

    /// Works until graceful shutdown; what is being handled then is finished.
    /// - Throws: `PostgresError` when the database is not of this build.
    public func run() async throws {
        try await checkDatabase()
        connection.start()
        await withTaskGroup { group in
            group.addTask { await attempt("commands") { try await consumer.run() } }
            group.addTask { await attempt("call log") { try await mirror.run() } }
            group.addTask { await timers.run { timer in try await handler.fire(timer.member) } }
            await group.waitForAll()
        }
        await connection.close()
        await pool.close()
    }

    /// A database of another build ends the start; one that is away does not: calls need it only for their log.
    private func checkDatabase() async throws(PostgresError) {
        do throws(PostgresError) {
            try await Migrations(pool: pool).check()
        } catch {
            guard error.kind != .migration else { throw error }
            logger.warning("PostgreSQL does not answer, the call log waits", metadata: ["error": "\(error)"])
        }
    }

    private func attempt(_ part: String, _ run: () async throws -> Void) async {
        do { try await run() } catch {
            logger.error("a part of the service ended", metadata: ["part": "\(part)", "error": "\(error)"])
        }
    }
}
