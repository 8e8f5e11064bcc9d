/// What a master says of itself.
package struct RedisMasterState: Equatable, Sendable {
    /// Its host and port, as they were found.
    package var address: String
    /// What it answers; nil when it does not.
    package var answer: Answer?

    package struct Answer: Equatable, Sendable {
        /// The release, such as 7.0.15.
        package var version: String
        /// Bytes that its data takes, and may take (0 without a bound).
        package var usedBytes: Int64
        package var mostBytes: Int64
        /// Connections of clients.
        package var clients: Int64
        /// Replicas that are connected to it.
        package var replicas: Int64
    }
}

extension RedisClient {
    /// Asks the masters that are known how they are. May be called from any thread.
    package func masters() async -> [RedisMasterState] {
        await info("server", "memory", "clients", "replication").map { address, fields in
            let answer = fields.map { fields in
                RedisMasterState.Answer(
                    version: fields["redis_version"] ?? "", usedBytes: fields.integer("used_memory") ?? 0,
                    mostBytes: fields.integer("maxmemory") ?? 0, clients: fields.integer("connected_clients") ?? 0,
                    replicas: fields.integer("connected_slaves") ?? 0)
            }
            return RedisMasterState(address: address, answer: answer)
        }
    }

    /// Asks the masters that are known for sections of `INFO`; nil of one that does not answer.
    func info(_ sections: RedisArgument...) async -> [(address: String, fields: InfoFields?)] {
        let masters = await read { [self] in
            slotsOfMasters.compactMap { slot in owner(ofSlot: slot).map { (slot: slot, address: "\($0)") } }
        }
        let command = RedisCommand("INFO", arguments: sections)
        let answers = await execute(masters.map { command.inSlot($0.slot) })
        return zip(masters, answers).map { master, answer in
            (master.address, (try? answer.get())?.string.map { InfoFields(info: $0) })
        }
    }
}
