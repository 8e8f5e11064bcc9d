internal import Logging
internal import NIOCore

/// The map of slots.
extension ClusterDriver {
    func readMap(_ number: UInt64, from source: MapSource) {
        let limit = machine.settings.reading.limit
        switch source {
        case .node(let owner):
            guard let node = node(owner) else { return perform(machine.mapFailed(number, .closed, now: .now())) }
            node.pipeline.send(.clusterSlots, repeatedUntil: .now() + limit) { result in
                self.mapAnswered(number, result, asked: node.address)
            }
        case .seed(let address) where hasOneMaster: askSentinel(number, address)
        case .seed(let address):
            let reader = BriefConnection(
                [.clusterSlots], configuration: limits.at(address), eventLoop: eventLoop, limit: limit
            ) { result in
                self.readers[number] = nil
                self.mapAnswered(number, result.map { $0[0] }, asked: address)
            }
            readers[number] = reader
            reader.start()
        }
    }

    private func mapAnswered(_ number: UInt64, _ result: Result<RedisValue, RedisError>, asked: NodeAddress) {
        mapAnswered(number, asked: asked) { () throws(RedisError) in try SlotMap(slotsFrom: asked, result) }
    }

    private func askSentinel(_ number: UInt64, _ address: NodeAddress) {
        sentinels?.ask(address, limit: machine.settings.reading.limit) { result in
            self.mapAnswered(number, asked: address) { () throws(RedisError) in SlotMap(single: try result.get()) }
        }
    }

    private func mapAnswered(
        _ number: UInt64, asked: NodeAddress, _ answer: () throws(RedisError) -> SlotMap
    ) {
        guard !isClosed else { return }
        do throws(RedisError) {
            let map = try answer()
            logMap(map)
            perform(machine.mapRead(number, map, now: .now()))
        } catch {
            logFailure(error, asked)
            perform(machine.mapFailed(number, error, now: .now()))
        }
        updateStatus()
    }

    /// Has the map read soon, because there is a sign that it is outdated.
    func wantMap() {
        machine.wantMap(.now())
        perform([])
    }

    /// One line whenever masters or uncovered slots are others than before.
    private func logMap(_ map: SlotMap) {
        hasLoggedFailure = false
        let changes = map.changes(since: machine.map ?? SlotMap())
        let uncovered = map.uncovered
        guard !changes.new.isEmpty || !changes.gone.isEmpty || uncovered != machine.map?.uncovered else { return }
        logger.log(
            level: uncovered.isEmpty ? .info : .warning, "masters of Redis",
            metadata: [
                "masters": "\(map.masters.map(\.address.description).sorted().joined(separator: " "))",
                "uncovered": "\(SlotMap.text(of: uncovered))",
            ])
    }

    /// One warning per outage; the failures that follow are logged at debug level.
    private func logFailure(_ error: RedisError, _ asked: NodeAddress) {
        logger.log(
            level: hasLoggedFailure ? .debug : .warning, "could not learn the masters of Redis",
            metadata: ["node": "\(asked)", "error": "\(error)"])
        hasLoggedFailure = true
    }
}

extension RedisCommand {
    package static let clusterSlots = RedisCommand("CLUSTER", "SLOTS")
}
