import NIOCore

@testable import RedisClient

/// Drives a ``ClusterStateMachine`` against a ``SimulatedCluster`` through random events, and collects what went wrong.
final class ClusterModel {
    /// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (SplitMix64).
    struct Random: RandomNumberGenerator, Sendable {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    enum Outcome: Equatable {
        case done
        case failed(RedisError.Code)
    }

    private(set) var cluster = SimulatedCluster()
    private(set) var machine: ClusterStateMachine
    private var random: Random
    private var now = NIODeadline.uptimeNanoseconds(0)
    private var actions: [ClusterAction] = []
    /// By node: the machine's number for the link, and whether it is up.
    private var links: [(number: NodeNumber, isUp: Bool)?]
    private var reading: (number: UInt64, source: MapSource)?
    private var oldMap = SlotMap()
    /// By number.
    private(set) var submitted: [UInt64: SimulatedCluster.Request] = [:]
    private(set) var outcomes: [UInt64: Outcome] = [:]
    /// The commands that a connection took with it.
    private(set) var lost: Set<UInt64> = []
    /// Violated rules.
    private(set) var faults: [String] = []

    init(seed: UInt64) {
        random = Random(state: seed)
        let seeds = SimulatedCluster.names.map(Conversation.address)
        machine = ClusterStateMachine(ClusterSettings(seeds: seeds), random: Random(state: ~seed))
        links = seeds.map { _ in nil }
        oldMap = cluster.map
    }

    // MARK: - The client

    private func perform(_ new: [ClusterAction]) {
        let isPerforming = !actions.isEmpty
        actions += new
        guard !isPerforming else { return }
        while let action = actions.first {
            perform(action)
            actions.removeFirst()
        }
    }

    private func perform(_ action: ClusterAction) {
        switch action {
        case .open(let number, let address):
            links[SimulatedCluster.names.firstIndex(of: address.host)!] = (number, false)
        case .drop(let number):
            let node = node(number)
            links[node] = nil
            loseCommands(of: node)
        case .send(let number, let node, let asking):
            guard let request = submitted[number] else { return faults.append("send of unknown \(number)") }
            if request.command.traits.deadline <= now { faults.append("\(number) is sent after its deadline") }
            send(request, to: node, asking: asking)
        case .fail(let number, let error): complete(number, .failed(error.code))
        case .readMap(let number, let source): reading = (number, source)
        case .mapChanged: break
        }
    }

    private func node(_ number: NodeNumber) -> Int { links.firstIndex { $0?.number == number }! }

    private func send(_ request: SimulatedCluster.Request, to number: NodeNumber, asking: Bool) {
        guard let node = links.firstIndex(where: { $0?.number == number && $0?.isUp == true }) else {
            return faults.append("\(request.command.number) is sent to a node without a connection")
        }
        cluster.nodes[node].requests.append(.init(command: request.command, key: request.key, asking: asking))
    }

    private func complete(_ number: UInt64, _ outcome: Outcome) {
        if outcomes.updateValue(outcome, forKey: number) != nil { faults.append("\(number) is completed twice") }
    }

    private func loseCommands(of node: Int) {
        let answered = cluster.nodes[node].replies.map(\.request.command)
        let unanswered = cluster.nodes[node].requests.map(\.command)
        cluster.nodes[node].replies = []
        cluster.nodes[node].requests = []
        var isWritten = true
        for (index, command) in (answered + unanswered).enumerated() {
            if index >= answered.count, isWritten { isWritten = Bool.random(using: &random) }
            if isWritten { lost.insert(command.number) }
            perform(machine.lost(command, wasWritten: isWritten, now: now))
        }
    }

    // MARK: - What happens

    func start() { perform(machine.start(now)) }

    private func submit() {
        let traits = ClusterCommand.Traits(
            slot: SimulatedCluster.slots.randomElement(using: &random)!,
            deadline: now + .milliseconds(Int64.random(in: 20...8000, using: &random)),
            isFenced: Bool.random(using: &random), isRepeatable: Bool.random(using: &random))
        let key = SimulatedCluster.keys.randomElement(using: &random)!
        switch machine.submit(traits) {
        case .send(let command, let node):
            submitted[command.number] = .init(command: command, key: key, asking: false)
            send(submitted[command.number]!, to: node, asking: false)
        case .hold(let command): submitted[command.number] = .init(command: command, key: key, asking: false)
        case .refuse(let error): faults.append("refused: \(error)")
        }
    }

    private func receive(_ node: Int) {
        guard let link = links[node], link.isUp, !cluster.nodes[node].isFrozen else { return }
        // If only the answer to PING.
        perform(machine.linkHeard(link.number, now: now))
        guard !cluster.nodes[node].replies.isEmpty else { return }
        let (request, reply) = cluster.nodes[node].replies.removeFirst()
        switch reply {
        case .done:
            complete(request.command.number, .done)
            perform(machine.answered(request.command, now: now))
        case .refused(let text):
            perform(machine.answered(request.command, by: link.number, RedisError(reply: text), now: now))
        }
    }

    private func connect(_ node: Int) {
        guard let link = links[node], !link.isUp, !cluster.nodes[node].isFrozen else { return }
        links[node]?.isUp = true
        perform(machine.linkOpened(link.number, now: now))
    }

    private func disconnect(_ node: Int) {
        guard let link = links[node], link.isUp else { return }
        links[node]?.isUp = false
        perform(machine.linkClosed(link.number, now: now))
        loseCommands(of: node)
    }

    private func wait(_ milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        if let time = machine.wakeAt, time <= now { perform(machine.timer(now)) }
    }

    /// Answers the reading that is under way: with the map, with an outdated one, or not.
    private func answerReading(isGood: Bool) {
        guard let (number, source) = reading else { return }
        reading = nil
        let chance = isGood ? 0 : Int.random(in: 0..<10, using: &random)
        if case .node(let node) = source, links.allSatisfy({ $0?.number != node }) || chance == 9 {
            return perform(machine.mapFailed(number, .closed, now: now))
        }
        perform(machine.mapRead(number, chance == 8 ? oldMap : cluster.map, now: now))
        if chance < 3 { oldMap = cluster.map }
    }

    /// A random event.
    func step() {
        let node = Int.random(in: links.indices, using: &random)
        let slot = SimulatedCluster.slots.randomElement(using: &random)!
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: submit()
        case 25..<50: cluster.process(node)
        case 50..<75: receive(node)
        case 75..<80: connect(node)
        case 80..<87: wait(Int64.random(in: 0...40, using: &random))
        case 87..<89: answerReading(isGood: false)
        case 89: cluster.beginMigration(slot, to: node)
        case 90: cluster.moveKey(SimulatedCluster.keys.randomElement(using: &random)!, of: slot)
        case 91: cluster.endMigration(slot, isCancelled: Bool.random(using: &random))
        case 92: cluster.move(slot, to: node)
        case 93: disconnect(node)
        case 94: cluster.nodes[node].isFrozen.toggle()
        case 95:
            if let link = links[node], link.isUp { perform(machine.linkSilent(link.number, now: now)) }
        case 96: failOver(node)
        default:
            let troubles = ["CLUSTERDOWN", "NOREPLICAS", "READONLY", "LOADING", nil, nil, nil]
            cluster.setTrouble(troubles.randomElement(using: &random)!, of: node)
        }
    }

    /// A host dies without a word, and others take over its slots.
    private func failOver(_ node: Int) {
        cluster.nodes[node].isFrozen = true
        for slot in SimulatedCluster.slots where cluster.owner[slot] == node {
            cluster.move(slot, to: (node + 1) % links.count)
        }
    }

    /// Ends all troubles, and goes on until all commands are complete.
    func settle() {
        for node in links.indices { cluster.nodes[node].isFrozen = false }
        for _ in 0..<4000 where outcomes.count < submitted.count {
            for slot in SimulatedCluster.slots { cluster.endMigration(slot, isCancelled: false) }
            for node in links.indices {
                cluster.setTrouble(nil, of: node)
                connect(node)
                cluster.process(node)
                receive(node)
            }
            answerReading(isGood: true)
            wait(5)
        }
    }
}
