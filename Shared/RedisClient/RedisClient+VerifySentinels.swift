internal import Logging
internal import NIOCore

extension RedisClient {
    /// See ``verify()``, for a master of this name.
    func verifySentinels(_ name: String) async throws(RedisError) {
        let end = NIODeadline.now() + TimeAmount(configuration.commandTimeout)
        while true {
            var survey = SentinelSurvey(name: name, sentinels: configuration.addresses)
            for sentinel in configuration.addresses {
                survey.add(
                    await ask(SentinelReplies.commands(name: name), configuration.ofSentinels.at(sentinel)),
                    of: sentinel)
            }
            let failure: RedisError
            switch survey.verdict {
            case .fail(let error): throw error
            case .again(let error): failure = error
            case .master(let master, let sentinel):
                do throws(RedisError) {
                    return try await verifyMaster(master, name, sentinel, unnamed: survey.unnamed)
                } catch {
                    // A failover may be under way.
                    guard error.isLocal || error.code == .loading || error.code == .readOnly else { throw error }
                    failure = error
                }
            }
            guard NIODeadline.now() < end else { throw failure }
            await eventLoop.pause(for: .milliseconds(100))
        }
    }

    private func verifyMaster(
        _ master: NodeAddress, _ name: String, _ sentinel: NodeAddress, unnamed: Int
    ) async throws(RedisError) {
        let replies = try await ask(
            [ServerIdentity.command, RedisCommand("INFO", "cluster")], configuration.at(master)
        )
        .get()
        if replies[1].string?.contains("cluster_enabled:1") == true {
            throw .flavour("\(master) is a node of a Redis Cluster: use redis+cluster:// for it")
        }
        let identity = try ServerIdentity(info: replies[0])
        if let refusal = identity.refusal {
            throw RedisError(
                code: refusal.code,
                message: "\(master), which the Sentinel \(sentinel) calls the master: \(refusal.message)")
        }
        let asked = await ask(
            [RedisCommand("SENTINEL", "REPLICAS", .string(name))], configuration.ofSentinels.at(sentinel))
        // Advice only: what cannot be read is not worth a failure.
        guard case .success(let replicas) = asked,
            let lines = try? SentinelAdvice.lines(identity, replicas: replicas[0], unnamed: unnamed)
        else { return }
        for line in lines { logger.warning("\(line)", metadata: ["master": "\(name)", "node": "\(master)"]) }
    }
}
