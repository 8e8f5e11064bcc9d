internal import BusProtocol
internal import ClusterBus
internal import GatewayAPILogic
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// The API itself, and the whole cluster.
extension APIPerformer {
    func perform(_ act: APIAct.Cluster, key: APIKey?, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .describeError(let code): Self.describe(code)
        case .describeKey: Outcome(key.map(Self.description) ?? .null)
        case .getMetrics: Outcome(.string(await metrics()))
        case .listProcesses: try await listProcesses()
        case .listStores: await listStores()
        case .drainProcess(let process): try await drain(process, write)
        }
    }

    private static func describe(_ code: APIErrorCode) -> Outcome {
        Outcome(
            JSONMember("code", code.rawValue), JSONMember("status", code.status),
            JSONMember("meaning", code.meaning))
    }

    private static func description(_ key: APIKey) -> JSONValue {
        .object([
            JSONMember("id", key.id), JSONMember("app", key.app?.rawValue),
            JSONMember("scopes", .array(key.scopes.words.map { .string($0) })),
            JSONMember("requestsPerSecond", key.requestsPerSecond),
            JSONMember("expiresAt", key.expiry),
        ])
    }

    private func listProcesses() async throws -> Outcome {
        let redis = shards.next().redis
        let running = try await RunningInstances.list(redis)
        let leases = await Self.leases(redis)
        let connections = GatewayID.connections(by: leases)
        let openHooks = GatewayID.openHooks(by: leases).mapValues { apps in
            JSONValue.array(apps.map { .string($0.rawValue) })
        }
        let processes = running.map { instance -> JSONValue in
            let hooks: JSONValue? = instance.record.gateway.flatMap { openHooks[$0] }
            return .object([
                JSONMember("id", instance.id), JSONMember("kind", instance.record.kind),
                JSONMember("version", instance.record.version), JSONMember("level", instance.record.level),
                JSONMember("host", instance.record.host),
                JSONMember("since", instance.record.since.milliseconds / 1000),
                JSONMember("connections", instance.record.gateway.flatMap { connections[$0] }),
                JSONMember("openHooks", hooks ?? .null),
                JSONMember("draining", instance.record.isDraining == true),
            ])
        }
        let level = running.map(\.record.level).min()
        return Outcome(
            JSONMember("processes", .array(processes)),
            JSONMember("clusterLevel", level),
            JSONMember("time", WallClock.seconds))
    }

    private func drain(_ process: String, _ write: BegunWrite?) async throws -> Outcome {
        _ = try await shards.next().ask(DrainProcess(process), as: write?.command)
        return Outcome(JSONMember("id", process))
    }

    /// What the gateways that accept clients told within the last seconds. Without it the list is worth something
    /// still: a master of Redis may be away that does not have the processes' records.
    private static func leases(_ redis: RedisClient) async -> [GatewayID: GatewayLease] {
        let leases = GatewayLeases(connection: redis)
        guard let ids = try? await leases.list(), !ids.isEmpty, let known = try? await leases.leases(of: ids) else {
            return [:]
        }
        return known
    }
}
