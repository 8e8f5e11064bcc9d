internal import BusProtocol
internal import GatewayAPILogic
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

/// How Redis and PostgreSQL are doing. Whoever asks wants to know most when one of them does not answer: the answer
/// says that then.
extension APIPerformer {
    func listStores() async -> Outcome {
        let shard = shards.next()
        async let masters = shard.redis.masters()
        let database: [JSONValue]
        var problem: String?
        do throws(SignalingError) {
            database = try await shard.ask(GetDatabaseServers()).servers.map(Self.describe)
        } catch {
            (database, problem) = ([], error.message)
        }
        return Outcome(
            JSONMember("redis", .array(await masters.map(Self.describe))), JSONMember("postgres", .array(database)),
            JSONMember("postgresProblem", problem))
    }

    private static func describe(_ master: RedisMasterState) -> JSONValue {
        let answer = master.answer
        return .object([
            JSONMember("server", master.address), JSONMember("answers", answer != nil),
            JSONMember("version", answer?.version), JSONMember("usedBytes", answer?.usedBytes),
            JSONMember("maxBytes", answer.flatMap { $0.mostBytes > 0 ? $0.mostBytes : nil }),
            JSONMember("clients", answer?.clients), JSONMember("replicas", answer?.replicas),
        ])
    }

    private static func describe(_ server: DatabaseServer) -> JSONValue {
        let answers = server.role != nil
        return .object([
            JSONMember("server", server.name), JSONMember("answers", answers),
            JSONMember("role", server.role?.rawValue), JSONMember("problem", server.problem),
            JSONMember("version", answers ? server.version : nil),
            JSONMember("connections", answers ? server.connections : nil),
            JSONMember("maxConnections", answers ? server.mostConnections : nil),
            JSONMember("standbys", answers ? server.standbys : nil),
            JSONMember("lagBytes", answers ? server.lagBytes : nil),
        ])
    }
}
