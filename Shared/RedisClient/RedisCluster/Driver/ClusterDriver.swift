internal import ClusterState
internal import DequeModule
internal import Logging
internal import NIOCore

/// The commands and connections of a ``RedisClient``: carries out what ``ClusterStateMachine`` decides.
///
/// Belongs to the cluster's event loop; everything here runs on it.
final class ClusterDriver {
    typealias Completion = (Result<RedisValue, RedisError>) -> Void

    /// A command whose completion has not been called.
    struct Flight {
        let command: ClusterCommand
        let redis: RedisCommand
        let completion: Completion
    }

    /// A server with which there is a connection, or should be.
    final class Node {
        let address: NodeAddress
        /// Distinguishes this node from one that had its number before.
        let serial: Int
        /// The server's clock.
        let clock: RedisClock
        let pipeline: CommandPipeline
        /// Nil while there is no connection.
        var term: MasterTerm?

        init(address: NodeAddress, serial: Int, clock: RedisClock, pipeline: CommandPipeline) {
            self.address = address
            self.serial = serial
            self.clock = clock
            self.pipeline = pipeline
        }
    }

    /// How often the nodes are checked for silence.
    private static let silenceCheckPause = TimeAmount.milliseconds(250)

    let eventLoop: any EventLoop
    /// Where the cluster is looked for, and the limits of every connection.
    let limits: RedisConfiguration
    let libraries: [RedisFunctionLibrary]
    let logger: Logger
    let status: ConnectionStatus
    private let commandTimeout: TimeAmount
    /// How much longer than ``commandTimeout`` a command may take that has to wait for its master: two fifths of it, 2
    /// s. Redis replaces a dead master within 3 to 5 s, and a gateway answers its clients within 8 s.
    private let patience: TimeAmount

    var machine: ClusterStateMachine
    /// By number; nil for a number that is free.
    var nodes: [Node?] = []
    var lastSerial = 0
    /// The number of the last ``MasterTerm``.
    var lastTerm = 0
    /// The commands that the machine holds, by number.
    private var held: [UInt64: Flight] = [:]
    private var bytesPending = 0
    private var actions: Deque<ClusterAction> = []
    private var isPerforming = false
    private(set) var isClosed = false
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    private var silenceTask: RepeatedTask?
    /// The readings of the map from an address of the configuration, by number.
    var readers: [UInt64: BriefConnection] = [:]
    /// Whether the current series of failed readings has been logged.
    var hasLoggedFailure = false

    /// The nodes that have something to write, in the current tick of the loop.
    var unflushed: [NodeNumber] = []
    /// Closures to call before the next write.
    var writePreparations: [() -> Void] = []
    var flushScheduled = false
    /// ``flush()`` as a task of the loop, created once so that a flush allocates nothing.
    var flushTask: (@Sendable () -> Void)?
    var connectedCallbacks: [@Sendable (SlotScope) -> Void] = []
    /// Those to whom the topics of slots matter.
    var mapObservers: [any SlotMapObserver] = []
    /// Asks and hears the Sentinels; nil in a cluster.
    private(set) var sentinels: SentinelFollower?
    /// For a single master: tells when its connections end at different servers. Number 0 is the connection for
    /// commands, the others are subscribers' connections.
    var ends = LinkEnds()
    /// By number: drops a subscriber's connection.
    var subscriberLinks: [LinkEnds.Link: (RedisError) -> Void] = [:]
    /// The last master that was used, to compare the next one with.
    var lastMaster: (address: NodeAddress, identity: ServerIdentity)?

    init(
        limits: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary],
        status: ConnectionStatus, logger: Logger
    ) {
        self.limits = limits
        self.eventLoop = eventLoop
        self.libraries = libraries
        self.status = status
        self.logger = logger
        commandTimeout = TimeAmount(limits.commandTimeout)
        patience = .nanoseconds(commandTimeout.nanoseconds / 5 * 2)
        var settings = ClusterSettings(flavour: limits.flavour, seeds: limits.addresses)
        settings.maxPending = limits.maxPendingCommands
        machine = ClusterStateMachine(settings, random: SystemRandomNumberGenerator())
        if let name = limits.masterName {
            sentinels = SentinelFollower(
                name: name, addresses: limits.addresses, configuration: limits.ofSentinels, eventLoop: eventLoop,
                logger: logger)
        }
    }

    /// Whether every command goes to the same server.
    var hasOneMaster: Bool { sentinels != nil }

    func start() {
        guard !isClosed else { return }
        perform(machine.start(.now()))
        sentinels?.start(self)
        let driver = NIOLoopBound(self, eventLoop: eventLoop)
        silenceTask = eventLoop.scheduleRepeatedTask(
            initialDelay: Self.silenceCheckPause, delay: Self.silenceCheckPause
        ) { _ in
            driver.value.checkSilence()
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        silenceTask?.cancel()
        perform(machine.close())
        for reader in readers.values { reader.close() }
        sentinels?.close()
        // Both retain this driver.
        flushTask = nil
        mapObservers = []
    }

    // MARK: - Commands

    /// How long a command may take that is not repeated.
    var longestWait: TimeAmount { commandTimeout + patience }

    /// See ``RedisClient/send(_:repeatedUntil:_:)``.
    func send(_ command: RedisCommand, repeatedUntil until: NIODeadline?, _ completion: @escaping Completion) {
        guard !isClosed else { return completion(.failure(.shutDown)) }
        guard let slot = hasOneMaster ? 0 : command.slot else { return completion(.failure(.withoutSlot(command))) }
        let isFenced = command.isFunctionCall && !hasOneMaster
        let command = isFenced ? command.fenced : command
        guard bytesPending + command.byteEstimate <= limits.maxPendingBytes else {
            return completion(.failure(.full("bytes of pending Redis commands", bound: limits.maxPendingBytes)))
        }
        let end = until ?? .now() + commandTimeout
        let traits = ClusterCommand.Traits(
            slot: slot, deadline: until ?? end + patience, isFenced: isFenced, isRepeatable: until != nil)
        let submission = machine.submit(traits)
        if case .refuse(let error) = submission { return completion(.failure(error)) }
        bytesPending += command.byteEstimate
        switch submission {
        case .refuse: break
        case .hold(let accepted):
            held[accepted.number] = Flight(command: accepted, redis: command, completion: completion)
            armTimer()
        case .send(let accepted, let node):
            let flight = Flight(command: accepted, redis: command, completion: completion)
            guard isPerforming else { return write(flight, to: node, until: end) }
            // Earlier commands of the slot may be among the actions that are still to be performed.
            held[accepted.number] = flight
            actions.append(.send(accepted.number, to: node, asking: false))
        }
    }

    private func write(_ flight: Flight, to number: NodeNumber, until end: NIODeadline) {
        guard let node = node(number) else { return answered(flight, by: number, .failure(.unsent)) }
        node.pipeline.send(flight.redis, repeatedUntil: end) { result in
            self.answered(flight, by: number, result)
        }
    }

    private func answered(_ flight: Flight, by node: NodeNumber, _ result: Result<RedisValue, RedisError>) {
        guard case .failure(let error) = result else {
            let next = machine.answered(flight.command, now: .now())
            // Also without actions: the answer may have set the time at which its slot,
            // which is closed, is tried again.
            if next.isEmpty { armTimer() } else { perform(next) }
            return complete(flight, result)
        }
        if isClosed { return complete(flight, .failure(.shutDown)) }
        if error.code == .closed || error.code == .unsent {
            held[flight.command.number] = flight
            perform(machine.lost(flight.command, wasWritten: error.code == .closed, now: .now()))
        } else if error.isLocal {
            perform(machine.answered(flight.command, now: .now()))
            complete(flight, result)
        } else {
            held[flight.command.number] = flight
            perform(machine.answered(flight.command, by: node, error, now: .now()))
        }
    }

    private func complete(_ flight: Flight, _ result: Result<RedisValue, RedisError>) {
        bytesPending -= flight.redis.byteEstimate
        flight.completion(result)
    }

    // MARK: - Actions

    /// Performs actions after those that are being performed.
    func perform(_ new: [ClusterAction]) {
        actions.append(contentsOf: new)
        guard !isPerforming else { return }
        isPerforming = true
        while let action = actions.popFirst() { perform(action) }
        isPerforming = false
        armTimer()
    }

    private func perform(_ action: ClusterAction) {
        switch action {
        case .open(let number, let address): open(number, address)
        case .drop(let number):
            let node = node(number)
            nodes[Int(number)] = nil
            node?.pipeline.close()
        case .send(let command, let number, let asking):
            guard let flight = held.removeValue(forKey: command) else { return }
            // The server's answer to ASKING, OK, is of no use.
            if asking { node(number)?.pipeline.send(RedisCommand("ASKING")) { _ in } }
            write(flight, to: number, until: flight.command.traits.deadline)
        case .fail(let command, let error):
            if let flight = held.removeValue(forKey: command) { complete(flight, .failure(error)) }
        case .readMap(let number, let source): readMap(number, from: source)
        case .mapChanged(let changes):
            for observer in mapObservers { observer.mapChanged(changes) }
            if !changes.gone.isEmpty { takeOver(changes.moved) }
        }
    }

    private func armTimer() {
        guard let time = machine.wakeAt, !isClosed else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer {
            guard time < timer.deadline else { return }
            timer.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            self.timer = nil
            self.perform(self.machine.timer(.now()))
        }
        timer = (time, task)
    }
}

/// Is told when slots change their owners; on the event loop.
protocol SlotMapObserver: AnyObject {
    func mapChanged(_ changes: SlotMapChanges)
}

extension RedisError {
    fileprivate static func withoutSlot(_ command: RedisCommand) -> RedisError {
        RedisError(code: .slot, message: "\(command.name) was sent to a Redis Cluster without the slot of its keys")
    }
}
