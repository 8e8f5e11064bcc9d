internal import BusProtocol
internal import ClusterBus
internal import GatewayAPILogic
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

/// The API itself, and the whole cluster.
extension APIPerformer {
    func perform(_ act: APIAct.Cluster, key: APIKey?) async throws -> Outcome {
        switch act {
        case .describeError(let code): Self.describe(code)
        case .describeKey: Outcome(key.map(Self.description) ?? .null)
        case .getMetrics: Outcome(.string(await metrics()))
        case .listProcesses: try await listProcesses()
        }
    }

    private static func describe(_ code: APIErrorCode) -> Outcome {
        Outcome(
            JSONMember("code", .string(code.rawValue)), number("status", code.status),
            JSONMember("meaning", .string(code.meaning)))
    }

    private static func description(_ key: APIKey) -> JSONValue {
        .object([
            JSONMember("id", .string(key.id)), JSONMember("app", key.app.map { .string($0.rawValue) } ?? .null),
            JSONMember("scopes", .array(key.scopes.words.map { .string($0) })),
            number("requestsPerSecond", key.requestsPerSecond),
            JSONMember("expiresAt", key.expiry.map { .number(String($0)) } ?? .null),
        ])
    }

    private func listProcesses() async throws -> Outcome {
        let running = try await RunningInstances.list(shards.next().redis)
        let processes = running.map { instance -> JSONValue in
            .object([
                JSONMember("id", .string(instance.id)), JSONMember("kind", .string(instance.record.kind)),
                JSONMember("version", .string(instance.record.version)), Self.number("level", instance.record.level),
                JSONMember("host", .string(instance.record.host)),
                Self.number("since", instance.record.since.milliseconds / 1000),
            ])
        }
        let level = running.map(\.record.level).min()
        return Outcome(
            JSONMember("processes", .array(processes)),
            JSONMember("clusterLevel", level.map { .number(String($0)) } ?? .null),
            Self.number("time", WallClock.seconds))
    }
}
