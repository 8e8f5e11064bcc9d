internal import RedisClient

extension RedisInspector {
    /// Asks all Sentinels.
    /// - Returns: the master, then its replicas.
    /// - Throws: code `FLAVOUR` when one is no Sentinel or does not know the master's name; or the
    ///   last failure when none answers.
    func readSentinels(into inspection: inout RedisInspection) async throws(RedisError) -> [NodeAddress] {
        guard let name = configuration.masterName else { return [] }
        var survey = SentinelSurvey(name: name, sentinels: configuration.addresses)
        for sentinel in configuration.addresses {
            let answer = await client.ask(SentinelReplies.commands(name: name), configuration.ofSentinels.at(sentinel))
            survey.add(answer, of: sentinel)
            do throws(RedisError) {
                inspection.sentinels.append(try await state(of: sentinel, try answer.get(), name))
            } catch {
                if let refusal = SentinelReplies.refusal(error, sentinel: sentinel, name: name) { throw refusal }
                inspection.silent.append(.init(address: sentinel, why: error.message))
            }
        }
        switch survey.verdict {
        case .fail(let error), .again(let error): throw error
        case .master(let master, let sentinel):
            let command = RedisCommand("SENTINEL", "REPLICAS", .string(name))
            let replicas = try await client.ask([command], configuration.ofSentinels.at(sentinel)).get()[0]
            inspection.sentinelAdvice = await advice(on: master, replicas: replicas, unnamed: survey.unnamed)
            return [master] + Self.addresses(ofReplicas: replicas)
        }
    }

    private func state(
        of sentinel: NodeAddress, _ replies: [RedisValue], _ name: String
    ) async throws(RedisError) -> SentinelState {
        let naming = try SentinelReplies.naming(replies, name: name)
        let fields = InfoFields(pairs: replies[0])
        var state = SentinelState(
            address: sentinel, master: naming.master, epoch: naming.epoch, quorum: fields.integer("quorum") ?? 0,
            replicas: fields.integer("num-slaves") ?? 0,
            flags: Set((fields["flags"] ?? "").split(separator: ",").map { String($0) }))
        let check = RedisCommand("SENTINEL", "CKQUORUM", .string(name))
        if case .failure(let error) = await client.ask([check], configuration.ofSentinels.at(sentinel)) {
            state.obstacle = error.message
        }
        return state
    }

    /// What ``SentinelAdvice`` has to say; nothing while the master does not answer.
    private func advice(on master: NodeAddress, replicas: RedisValue, unnamed: Int) async -> [String] {
        guard case .success(let replies) = await client.ask([ServerIdentity.command], configuration.at(master)),
            let identity = try? ServerIdentity(info: replies[0]),
            let lines = try? SentinelAdvice.lines(identity, replicas: replicas, unnamed: unnamed)
        else { return [] }
        return lines
    }

    private static func addresses(ofReplicas reply: RedisValue) -> [NodeAddress] {
        (reply.array ?? []).compactMap { replica in
            let fields = InfoFields(pairs: replica)
            guard let host = fields["ip"], let port = fields.integer("port"), NodeAddress.ports.contains(Int(port))
            else {
                return nil
            }
            return NodeAddress(host: host, port: Int(port))
        }
    }
}
