internal import Logging
internal import NIOCore
internal import SignalingProtocol
internal import Synchronization

/// The connections to the nodes.
extension ClusterDriver {
    func open(_ number: NodeNumber, _ address: NodeAddress) {
        lastSerial += 1
        let serial = lastSerial
        var logger = logger
        logger[metadataKey: "node"] = "\(address)"
        let link = RedisLink(
            configuration: limits.at(address), eventLoop: eventLoop, libraries: libraries, asksTime: true,
            logger: logger, check: masterCheck(address))
        let clock = RedisClock()
        let sendBySlot: LibraryUpkeep.Send? = hasOneMaster ? nil : { self.send($0, repeatedUntil: nil, $1) }
        let events = NodeEvents(
            sendBySlot: sendBySlot, up: { self.linkUp(number, serial) },
            down: { self.linkDown(number, serial) },
            heard: { self.nodeChanged(number, serial) { $0.linkHeard(number, now: .now()) } },
            wantsFlush: {
                self.unflushed.append(number)
                self.scheduleFlush()
            })
        let pipeline = CommandPipeline(link: link, clock: clock, status: ConnectionStatus(), node: events)
        while nodes.count <= Int(number) { nodes.append(nil) }
        nodes[Int(number)] = Node(address: address, serial: serial, clock: clock, pipeline: pipeline)
        pipeline.start()
    }

    /// The node of a number; nil when it has been dropped.
    func node(_ number: NodeNumber) -> Node? { Int(number) < nodes.count ? nodes[Int(number)] : nil }

    /// The node that owns a slot; nil while none is known.
    func owner(ofSlot slot: UInt16) -> Node? { node(machine.owners[Int(machine.index(slot))]) }

    /// Tells the machine of a change of a node's link, unless the node has been dropped.
    private func nodeChanged(
        _ number: NodeNumber, _ serial: Int, _ event: (inout ClusterStateMachine) -> [ClusterAction]
    ) {
        guard node(number)?.serial == serial else { return }
        perform(event(&machine))
        updateStatus()
    }

    private func linkUp(_ number: NodeNumber, _ serial: Int) {
        nodeChanged(number, serial) { $0.linkOpened(number, now: .now()) }
        guard let node = node(number), node.serial == serial else { return }
        status.connections.add(1, ordering: .relaxed)
        beginTerm(of: node)
        tellConnected(number)
    }

    private func linkDown(_ number: NodeNumber, _ serial: Int) {
        commandLinkClosed()
        if let node = node(number), node.serial == serial { node.term = nil }
        nodeChanged(number, serial) { $0.linkClosed(number, now: .now()) }
    }

    /// Masters are gone, and these slots have other owners. Owners that are not connected yet
    /// begin their terms when they are.
    func takeOver(_ moved: [SlotRange]) {
        var heirs: Set<NodeNumber> = []
        for range in moved { for slot in range { heirs.insert(machine.owners[Int(machine.index(slot))]) } }
        for number in heirs.sorted() {
            guard let node = node(number), node.term != nil else { continue }
            beginTerm(of: node)
            tellConnected(number)
        }
    }

    private func beginTerm(of node: Node) {
        lastTerm += 1
        node.term = MasterTerm(address: node.address, number: lastTerm, begin: .now())
    }

    func onConnected(_ callback: @escaping @Sendable (SlotScope) -> Void) {
        connectedCallbacks.append(callback)
        for (index, node) in nodes.enumerated() where node?.term != nil {
            if let slots = slots(of: NodeNumber(index)) { callback(slots) }
        }
    }

    private func tellConnected(_ number: NodeNumber) {
        guard !connectedCallbacks.isEmpty, let slots = slots(of: number) else { return }
        for callback in connectedCallbacks { callback(slots) }
    }

    /// The slots that a node owns; nil when it owns none.
    private func slots(of number: NodeNumber) -> SlotScope? {
        let owners = machine.owners
        if hasOneMaster { return owners[0] == number ? .all : nil }
        let slots = Set(owners.indices.lazy.filter { owners[$0] == number }.map { UInt16($0) })
        return slots.isEmpty ? nil : .slots(slots)
    }

    /// By how much the clocks of the connected masters differ; nil with fewer than two of them.
    var clockSpread: Duration? {
        let now = ContinuousClock.now
        let times = nodes.compactMap { node in
            node.flatMap { $0.term == nil ? nil : $0.clock.time(at: now)?.milliseconds }
        }
        guard times.count > 1, let first = times.min(), let last = times.max() else { return nil }
        return .milliseconds(last - first)
    }

    /// Shows other threads whether Redis can be used.
    func updateStatus() { status.isUp.store(machine.readiness.isReady, ordering: .releasing) }

    func checkSilence() {
        for (index, node) in nodes.enumerated() {
            guard let node, node.pipeline.checkSilence() else { continue }
            let number = NodeNumber(index)
            nodeChanged(number, node.serial) { $0.linkSilent(number, now: .now()) }
        }
    }
}
