internal import Logging
internal import NIOCore

/// The connections to the Sentinels: subscribes at each to its messages about the failover of the
/// master, and asks for the master.
///
/// Belongs to its event loop; everything here runs on it.
final class SentinelFollower {
    private let name: String
    private let addresses: [NodeAddress]
    private let configuration: RedisConfiguration
    private let eventLoop: any EventLoop
    private let logger: Logger
    private var choice: MasterChoice
    private weak var cluster: ClusterDriver?
    private var subscriptions: [SubscriptionDriver] = []
    /// The questions that have not been answered, by number.
    private var questions: [Int: BriefConnection] = [:]
    private var lastQuestion = 0

    /// - Parameter configuration: the limits of each connection; its address is not used.
    init(
        name: String, addresses: [NodeAddress], configuration: RedisConfiguration, eventLoop: any EventLoop,
        logger: Logger
    ) {
        self.name = name
        self.addresses = addresses
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.logger = logger
        choice = MasterChoice(sentinels: addresses.count)
    }

    /// Subscribes at all Sentinels: only the one that carries out a failover tells its beginning.
    func start(_ cluster: ClusterDriver) {
        self.cluster = cluster
        for address in addresses {
            let subscription = subscription(address)
            subscriptions.append(subscription)
            subscription.start()
            for topic in SentinelEvent.topics {
                // What was published before is not heard, so the Sentinels are asked once it has been confirmed.
                subscription.subscribe(topic) { [weak self] result in
                    if case .success = result, topic == SentinelEvent.topics.last { self?.cluster?.wantMap() }
                }
            }
        }
    }

    func close() {
        cluster = nil
        for subscription in subscriptions { subscription.close() }
        subscriptions = []
        for question in questions.values { question.close() }
        questions = [:]
    }

    /// Asks a Sentinel for the master.
    /// - Parameter completion: called once, on the event loop. An outdated answer is a failure.
    func ask(
        _ address: NodeAddress, limit: TimeAmount, completion: @escaping (Result<NodeAddress, RedisError>) -> Void
    ) {
        lastQuestion += 1
        let number = lastQuestion
        let question = BriefConnection(
            SentinelReplies.commands(name: name), configuration: configuration.at(address), eventLoop: eventLoop,
            limit: limit
        ) { [weak self] result in
            guard let self else { return completion(.failure(.shutDown)) }
            questions[number] = nil
            completion(naming(result, address))
        }
        questions[number] = question
        question.start()
    }

    private func naming(
        _ result: Result<[RedisValue], RedisError>, _ address: NodeAddress
    ) -> Result<NodeAddress, RedisError> {
        do throws(RedisError) {
            let naming = try SentinelReplies.naming(try result.get(), name: name)
            return choice.accepts(naming) ? .success(naming.master) : .failure(.outdated(naming.master))
        } catch {
            return .failure(SentinelReplies.refusal(error, sentinel: address, name: name) ?? error)
        }
    }

    private func subscription(_ address: NodeAddress) -> SubscriptionDriver {
        var logger = logger
        logger[metadataKey: "sentinel"] = "\(address)"
        let link = RedisLink(
            configuration: configuration.at(address), eventLoop: eventLoop, libraries: [], asksTime: false,
            logger: logger)
        return SubscriptionDriver(
            link: link, status: ConnectionStatus(),
            callbacks: RedisSubscriber.Callbacks(
                onMessage: { [weak self] topic, payload in self?.received(topic, payload, from: address) },
                onReconnected: { [weak self] in self?.cluster?.wantMap() }))
    }

    private func received(_ topic: String, _ payload: ByteBuffer, from address: NodeAddress) {
        guard let event = SentinelEvent(topic: topic, message: String(buffer: payload), name: name) else { return }
        cluster?.heard(event, from: address)
    }
}

extension RedisError {
    fileprivate static func outdated(_ master: NodeAddress) -> RedisError {
        RedisError(code: .outdated, message: "the Sentinel names a former master, \(master)")
    }
}

extension RedisError.Code {
    /// A Sentinel has not heard of the last failover yet.
    static let outdated = Self(rawValue: "OUTDATED")
}
