package import ClusterState
internal import Logging
package import NIOCore
package import RedisClient
internal import SignalingProtocol

/// Asks all servers and Sentinels how they are doing, for an operator. Writes nothing.
package struct RedisInspector: Sendable {
    /// The time limit of one command.
    private static let patience = Duration.seconds(2)

    /// Asks Sentinels, and reads what lies on any master.
    let client: RedisClient
    let configuration: RedisConfiguration
    /// A clock of this machine in milliseconds.
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - configuration: where Redis is; its time limits are not used.
    ///   - now: the clock that servers' clocks are compared with, in milliseconds. By default one that is good for
    ///     comparing them with each other only.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop,
        now: @escaping @Sendable () -> Int64 = { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }
    ) {
        self.now = now
        var limits = configuration
        limits.commandTimeout = Self.patience
        self.configuration = limits
        client = RedisClient(
            configuration: limits, eventLoop: eventLoop, keepsClock: false, logger: Self.silent)
    }

    static var silent: Logger { Logger(label: "heliographctl") { _ in SwiftLogNoOpLogHandler() } }

    package var bus: BusLayout { client.bus }

    /// How Redis is run.
    package var flavour: RedisFlavour { configuration.flavour }

    /// Looks at Redis for some time.
    /// - Parameter time: over which commands and CPU time are counted.
    /// - Throws: code `FLAVOUR` when Redis is not run as the URL says, or the failure if nothing answers at all.
    package func inspect(for time: Duration) async throws(RedisError) -> RedisInspection {
        var inspection = RedisInspection(flavour: flavour)
        let addresses: [NodeAddress]
        switch flavour {
        case .single:
            try await client.verify()
            addresses = configuration.addresses
        case .sentinel: addresses = try await readSentinels(into: &inspection)
        case .cluster: addresses = try await clusterAddresses()
        }
        await readServers(addresses, for: time, into: &inspection)
        inspection.order()
        client.start()
        inspection.partitions = await readPartitions()
        await client.close()
        return inspection
    }

    // MARK: - Servers

    /// Where the servers of a cluster are, as the first one of the URL that answers says.
    private func clusterAddresses() async throws(RedisError) -> [NodeAddress] {
        var failure = RedisError.timeout
        for seed in configuration.addresses {
            do throws(RedisError) {
                let view = try await view(of: seed)
                return view.nodes.compactMap(\.address)
            } catch {
                guard error.isLocal || error.code == .loading else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// The cluster as a server sees it.
    private func view(of address: NodeAddress) async throws(RedisError) -> ClusterView {
        let slots = await client.ask([.clusterSlots], configuration.at(address))
        let map: SlotMap
        do throws(RedisError) {
            map = try SlotMap(slotsFrom: address, slots.map { $0[0] })
        } catch {
            // Servers of a cluster without slots, or one in which all masters have failed, are to be shown too.
            guard error.code == .flavour, case .success = slots else { throw error }
            map = SlotMap()
        }
        let nodes = try await client.ask([RedisCommand("CLUSTER", "NODES")], configuration.at(address)).get()
        let endpoints = map.masters.flatMap { [$0.address] + $0.replicas }
        return try ClusterView(nodes: nodes[0].string ?? "", asked: address, endpoints: Set(endpoints))
    }

    private func readServers(
        _ addresses: [NodeAddress], for time: Duration, into inspection: inout RedisInspection
    ) async {
        let answers = await withTaskGroup(of: ServerAnswer.self) { tasks in
            for address in addresses { tasks.addTask { await ask(address, for: time) } }
            var answers: [NodeAddress: Result<ServerState, RedisError>] = [:]
            for await answer in tasks { answers[answer.address] = answer.result }
            return answers
        }
        for address in addresses {
            switch answers[address] {
            case .success(let server): inspection.servers.append(server)
            case .failure(let error): inspection.silent.append(.init(address: address, why: error.message))
            case nil: break
            }
        }
    }

    /// What became of asking one server.
    private struct ServerAnswer: Sendable {
        let address: NodeAddress
        let result: Result<ServerState, RedisError>
    }

    private func ask(_ address: NodeAddress, for time: Duration) async -> ServerAnswer {
        do throws(RedisError) {
            let server = try await readServer(address, for: time)
            return ServerAnswer(address: address, result: .success(server))
        } catch {
            return ServerAnswer(address: address, result: .failure(error))
        }
    }

    private func readServer(_ address: NodeAddress, for time: Duration) async throws(RedisError) -> ServerState {
        // First on a connection that is not tried again, because that one tells why it fails.
        _ = try await client.ask([RedisCommand("PING")], configuration.at(address)).get()
        var view: ClusterView?
        if flavour == .cluster { view = try await self.view(of: address) }
        let connection = RedisConnection(
            configuration: configuration.at(address), eventLoop: client.eventLoop, keepsClock: false,
            logger: Self.silent)
        connection.start()
        let result: Result<ServerState, RedisError>
        do throws(RedisError) {
            var server = try await readServer(address, connection, for: time)
            server.view = view
            result = .success(server)
        } catch {
            result = .failure(error)
        }
        await connection.close()
        return try result.get()
    }

    private func readServer(
        _ address: NodeAddress, _ connection: RedisConnection, for time: Duration
    ) async throws(RedisError) -> ServerState {
        let clock = ContinuousClock()
        let first = try await info(connection)
        let watchedSince = clock.now
        let lead = try await clockLead(connection)
        let libraries = try? await connection.execute(RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", "heliograph_*"))
        let names = ServerState.settingNames.map { RedisArgument.string($0) }
        let settings = try? await connection.execute(RedisCommand("CONFIG", arguments: ["GET"] + names))
        await client.eventLoop.pause(for: time)
        let last = try await info(connection)
        var server = try ServerState(address, info: last, database: configuration.database)
        server.watched(from: first, to: last, for: clock.now - watchedSince)
        server.clockLead = lead
        server.libraries = libraries.map { LibraryUpkeep.names($0).sorted() }
        server.settings = settings.map { reply in
            let fields = InfoFields(pairs: reply)
            return ServerState.settingNames.reduce(into: [:]) { $0[$1] = fields[$1] }
        }
        return server
    }

    private func info(_ connection: RedisConnection) async throws(RedisError) -> InfoFields {
        InfoFields(info: try await connection.execute(ServerState.info).string ?? "")
    }

    /// Between which bounds a server's clock is ahead of this process's: it read its clock between question and answer.
    private func clockLead(_ connection: RedisConnection) async throws(RedisError) -> ClosedRange<Int64>? {
        let before = now()
        let reply = try await connection.execute(RedisCommand("TIME"))
        let after = max(before, now())
        guard let time = reply.time else { return nil }
        return time.milliseconds - after...time.milliseconds - before
    }

    // MARK: - The bus

    private func readPartitions() async -> [PartitionState] {
        let count = bus.partitions.count
        return await withTaskGroup(of: PartitionState.self) { tasks in
            for partition in bus.partitions {
                tasks.addTask {
                    PartitionState(
                        number: partition.number, range: PartitionState.range(of: partition.number, count: count),
                        keySlot: partition.slot, entries: await readEntries(of: partition))
                }
            }
            var states: [PartitionState] = []
            for await state in tasks { states.append(state) }
            return states.sorted { $0.number < $1.number }
        }
    }

    private func readEntries(of partition: BusPartition) async -> PartitionState.Entries? {
        let keys = BusKey.all(in: partition)
        let results = await client.execute(keys.map { RedisCommand($0.kind.question, key: $0.key) })
        var entries = PartitionState.Entries()
        for (key, result) in zip(keys, results) {
            guard case .success(let reply) = result, let length = reply.int else { return nil }
            entries[keyPath: key.kind.total] += length
            if length > ReshardBounds.entries { entries.big[key.key] = length }
        }
        await readAges(of: keys.filter { $0.work != nil }, in: partition, into: &entries)
        return entries
    }

    /// Reads for how long the streams' oldest entries have waited.
    private func readAges(
        of streams: [BusKey], in partition: BusPartition, into entries: inout PartitionState.Entries
    ) async {
        let questions = streams.map { RedisCommand("XRANGE", key: $0.key, "-", "+", "COUNT", 1) }
        let results = await client.execute(questions + [RedisCommand("TIME").inSlot(partition.slot)])
        guard case .success(let clock)? = results.last, let now = clock.time else { return }
        for (stream, result) in zip(streams, results) {
            guard case .success(let reply) = result, let id = reply.array?.first?.array?.first?.string,
                let time = id.split(separator: "-").first.flatMap({ Int64($0) })
            else { continue }
            guard let work = stream.work else { continue }
            entries.ages[work] = max(entries.ages[work] ?? 0, now.milliseconds - time)
        }
    }
}

/// A key of a partition.
private struct BusKey {
    enum Kind {
        case commands(ServiceName), mirror(Mirror), setAside, timers

        var question: String {
            switch self {
            case .commands, .mirror, .setAside: "XLEN"
            case .timers: "ZCARD"
            }
        }

        var total: any WritableKeyPath<PartitionState.Entries, Int64> & Sendable {
            switch self {
            case .commands: \.waiting
            case .setAside: \.setAside
            case .mirror: \.mirrored
            case .timers: \.timers
            }
        }
    }

    let key: String
    let kind: Kind

    /// What its entries are, where they are removed as soon as an instance has dealt with them; nil elsewhere.
    var work: PartitionState.Work? {
        switch kind {
        case .commands(let service): .commands(service)
        case .mirror(let mirror): .mirror(mirror)
        case .setAside, .timers: nil
        }
    }

    static func all(in partition: BusPartition) -> [BusKey] {
        let mirrors = Mirror.all.map { BusKey(key: KeySpace.mirror($0, in: partition), kind: .mirror($0)) }
        return mirrors
            + ServiceName.allCases.flatMap { service in
                [
                    BusKey(key: KeySpace.commands(service, in: partition), kind: .commands(service)),
                    BusKey(key: KeySpace.posts(service, in: partition), kind: .commands(service)),
                    BusKey(key: KeySpace.setAside(service, in: partition), kind: .setAside),
                    BusKey(key: KeySpace.due(service, in: partition), kind: .timers),
                ]
            }
    }
}
