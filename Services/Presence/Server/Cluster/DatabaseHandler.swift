internal import BusProtocol
internal import ClusterBus
internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import SignalingProtocol

/// Tells how the servers of PostgreSQL are doing, for the server API: asked over connections of their own, at most
/// once a second.
struct DatabaseHandler: Sendable {
    /// The only key of ``known``.
    private static let all = "all"

    private let known: CachedRecords<String, [DatabaseServer]>

    /// - Parameter pool: the service's own, of whose servers is told.
    init(like pool: PostgresPool, logger: Logger) {
        let inspector = PostgresInspector(pool.configuration, logger: logger) { WallClock.milliseconds }
        known = CachedRecords(bound: 1) { _ async throws(PostgresError) in
            await inspector.servers().map(DatabaseServer.init)
        }
    }

    func servers(
        _ command: GetDatabaseServers, _ context: CommandContext
    ) async throws(SignalingError) -> DatabaseServers {
        DatabaseServers(
            try await answerOfPostgres { () throws(PostgresError) in try await known.find(Self.all) } ?? [])
    }
}

extension DatabaseServer {
    fileprivate init(_ state: PostgresServerState) {
        switch state.role {
        case .primary: self.init(name: state.name, role: .primary)
        case .standby: self.init(name: state.name, role: .standby)
        case .silent(let reason):
            self.init(name: state.name, role: nil)
            problem = reason
            return
        }
        version = state.version
        (connections, mostConnections) = (state.connections, state.mostConnections)
        (standbys, lagBytes) = (Int64(state.followers), state.lag)
    }
}
