internal import Logging
internal import NIOCore
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
            logger: logger)
        let clock = RedisClock()
        let events = NodeEvents(
            up: { self.linkUp(number, serial) },
            down: { self.nodeChanged(number, serial) { $0.linkClosed(number, now: .now()) } },
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
        for callback in connectedCallbacks { callback(node.address) }
    }

    func onConnected(_ callback: @escaping @Sendable (NodeAddress) -> Void) {
        connectedCallbacks.append(callback)
        for case let node? in nodes where node.pipeline.link.isUp { callback(node.address) }
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
