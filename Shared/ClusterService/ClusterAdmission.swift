internal import ClusterBus
internal import ClusterState
internal import Logging
internal import RedisClient
internal import ServiceKit
package import ServiceLifecycle

/// Runs a service's parts as one of the cluster's processes: none of them before the cluster lets the process in,
/// because a process that must not serve must not write either.
package struct ClusterAdmission: Service {
    /// The parts, in order of start; the stores are the first.
    package let services: [any Service]
    private let cluster: ClusterInstance
    private let stores: ServiceStores
    private let logger: Logger

    init(_ services: [any Service], cluster: ClusterInstance, stores: ServiceStores, logger: Logger) {
        self.services = [stores, ProcessRecordUpkeep(cluster: cluster, redis: RedisFailover(stores.redis))] + services
        self.cluster = cluster
        self.stores = stores
        self.logger = logger
    }

    /// Whether the process has joined, or serves on probation.
    var readiness: ReadinessCheck {
        .withRemarks(name: "cluster") { [cluster] in
            cluster.hasJoined || cluster.isOnProbation ? .works(remark: cluster.remark) : .fails("not joined yet")
        }
    }

    /// The levels, for `/healthz`.
    var details: [HealthDetail] {
        [HealthDetail("level", Int(ClusterLevel.current)), HealthDetail("clusterLevel", Int(cluster.clusterLevel))]
    }

    /// Joins, then runs the parts until the graceful shutdown.
    /// - Throws: `ClusterRefusal`, also later from a process on probation, or the error that ended one of the parts.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await enter() }
        } catch {
            await stores.close()
            // Shut down before the process had joined.
            if error is CancellationError { return }
            throw error
        }
        try await ServiceGroup(configuration: ServiceGroupConfiguration(services: services, logger: logger)).run()
    }

    private func enter() async throws {
        try await cluster.check(on: stores.redis.eventLoop)
        stores.redis.start()
        try await cluster.join(on: RedisFailover(stores.redis))
    }
}

/// Keeps the process's record while the parts run, and ends it before the stores are closed.
private struct ProcessRecordUpkeep: Service {
    let cluster: ClusterInstance
    let redis: RedisFailover

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await cluster.stay(on: redis) }
        await cluster.leave(on: redis)
    }
}
