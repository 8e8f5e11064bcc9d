internal import NIOCore

extension RedisClient {
    /// Checks that Redis is run as the URL says and can be used. Call it before ``start()``, because that loads
    /// functions; this writes nothing. Asks the configured addresses in their order until one says that all is well:
    /// another may have been removed from the cluster, or have not joined it yet. Waits for those that do not answer,
    /// for the command timeout at most.
    /// - Throws: when none says that all is well, what the first to answer said: code `FLAVOUR` with one line that says
    ///   what is wrong: a cluster's node behind `redis://`, or the opposite; a replica behind `redis://`; a cluster
    ///   with slots that no master serves; Sentinels that do not know the name. Or the last failure to connect.
    package func verify() async throws(RedisError) {
        if let name = configuration.masterName { return try await verifySentinels(name) }
        let end = NIODeadline.now() + TimeAmount(configuration.commandTimeout)
        while true {
            var failure = RedisError.timeout
            var refusals: [RedisError] = []
            for address in configuration.addresses {
                do throws(RedisError) {
                    return try await verify(address)
                } catch {
                    // A server that cannot be reached may be reached later.
                    if error.isLocal || error.code == .loading { failure = error } else { refusals.append(error) }
                }
            }
            if let refusal = refusals.first, refusals.count == configuration.addresses.count { throw refusal }
            guard NIODeadline.now() < end else { throw refusals.first ?? failure }
            await eventLoop.pause(for: .milliseconds(100))
        }
    }

    private func verify(_ address: NodeAddress) async throws(RedisError) {
        let isCluster = configuration.flavour == .cluster
        let commands: [RedisCommand] =
            isCluster ? [.clusterSlots] : [RedisCommand("INFO", "cluster"), RedisCommand("ROLE")]
        let result = await ask(commands, configuration.at(address))
        if isCluster {
            let map = try SlotMap(slotsFrom: address, result.map { $0[0] })
            guard map.isComplete else { throw .uncovered(map.uncovered) }
        } else {
            try Self.check(result.get(), address)
        }
    }

    /// Sends commands to a server, on a connection for this purpose only.
    package func ask(_ commands: [RedisCommand], _ server: RedisConfiguration) async -> Result<[RedisValue], RedisError>
    {
        let limit = TimeAmount(min(configuration.commandTimeout, .seconds(1)))
        return await withCheckedContinuation { continuation in
            eventLoop.execute { [eventLoop] in
                BriefConnection(commands, configuration: server, eventLoop: eventLoop, limit: limit) {
                    continuation.resume(returning: $0)
                }.start()
            }
        }
    }

    /// Checks the replies of a single server to INFO and ROLE.
    private static func check(_ replies: [RedisValue], _ address: NodeAddress) throws(RedisError) {
        if replies[0].string?.contains("cluster_enabled:1") == true {
            throw .flavour("\(address) is a node of a Redis Cluster: use redis+cluster:// for it")
        }
        switch try ServerRole(replies[1]) {
        case .master: break
        case .replica(let master): throw .flavour("\(address) is a replica of \(master): name the master instead")
        case .sentinel: throw .flavour("\(address) is a Sentinel, which holds no data")
        }
    }
}

extension SlotMap {
    /// Takes the map from a server's answer to CLUSTER SLOTS.
    /// - Throws: the answer, if it is a failure; code `FLAVOUR` when the server is no part of a cluster or
    ///   knows no masters; code `SHAPE`.
    package init(slotsFrom address: NodeAddress, _ answer: Result<RedisValue, RedisError>) throws(RedisError) {
        if case .failure(let error) = answer, error.message.contains("cluster support disabled") {
            throw .flavour("\(address) is not a node of a Redis Cluster: use redis:// for it")
        }
        try self.init(reply: try answer.get(), asked: address)
        guard !masters.isEmpty else { throw .flavour("\(address) knows no master that owns a slot") }
    }

    /// Ranges of slots as text, such as `0-99 200`.
    package static func text(of ranges: [SlotRange]) -> String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: " ")
    }
}

extension RedisConfiguration {
    /// The same limits and credentials for another server.
    package func at(_ address: NodeAddress) -> RedisConfiguration {
        var configuration = self
        configuration.host = address.host
        configuration.port = address.port
        return configuration
    }

    /// The same limits for Sentinels, which have no databases, and none of the servers' users.
    package var ofSentinels: RedisConfiguration {
        var configuration = self
        configuration.user = sentinelUser
        configuration.password = sentinelPassword
        configuration.database = 0
        return configuration
    }
}

extension RedisError {
    package static func flavour(_ message: String) -> RedisError { RedisError(code: .flavour, message: message) }

    fileprivate static func uncovered(_ slots: [SlotRange]) -> RedisError {
        .flavour("no master of the Redis Cluster serves the slots \(SlotMap.text(of: slots))")
    }
}
