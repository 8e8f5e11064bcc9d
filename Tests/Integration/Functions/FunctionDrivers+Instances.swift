import ClusterState
import RedisClient
import Testing

/// Calls the functions of running processes.
extension FunctionDrivers {
    /// One process among a thousand, most of which have just died.
    static func instances(_ times: FunctionTimes) async throws {
        let keys = [KeySpace.instances, KeySpace.instanceLevels, KeySpace.instance("one"), KeySpace.layout]
        let renewal = RedisCommand.function(
            "instance_renew", keys: keys,
            arguments: ["one", 1, 20_000, 2, "flavour", "single", "kind", "probe", "level", 1])
        let others = (0..<1000).flatMap { [RedisArgument.int($0), .string(long("instance", $0))] }
        try await times.expectShort(
            "instance_renew",
            after: {
                for key in keys.prefix(2) {
                    try await times.all([RedisCommand("ZADD", arguments: [.string(key)] + others)])
                }
            }, { try await times.all([renewal]) })
        let draining = RedisCommand.function("instance_drain", keys: keys, arguments: [])
        try await times.expectShort("instance_drain") { try await times.all([draining]) }
        let leaving = RedisCommand.function("instance_leave", keys: keys, arguments: ["one"])
        try await times.expectShort("instance_leave") { try await times.all([leaving]) }
    }
}
