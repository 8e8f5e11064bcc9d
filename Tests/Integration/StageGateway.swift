import BusProtocol
import ClusterBus
import ClusterState
import Logging
import MessageStore
import NIOCore
import NIOPosix
import RedisClient
import SignalingProtocol
import Synchronization
import TestKit

/// A stand-in for a gateway: sends commands, and records what is published to it and to the channels it subscribes to.
final class StageGateway: Sendable {
    private struct Heard {
        var events: [GatewayEvent] = []
        var channels: [String: [SignalingProtocol.ChannelEvent]] = [:]
    }

    let id: GatewayID
    let leases: GatewayLeases
    let messages: MessageStore
    let connection: RedisClient
    private let sender: CommandSender
    private let subscriber: RedisSubscriber
    private let box: HeardBox

    private final class HeardBox: Sendable {
        let value = Mutex(Heard())
    }

    init(_ id: GatewayID, redis: RedisServer) async throws {
        self.id = id
        let logger = ServicesStage.silent
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let connection = RedisClient(
            configuration: try redis.configuration, eventLoop: loop,
            libraries: [.messages, .leases, .streams], logger: logger)
        self.connection = connection
        leases = GatewayLeases(connection: connection)
        messages = MessageStore(connection: connection)
        let sender = CommandSender(sender: .gateway(id), connection: connection, logger: logger)
        self.sender = sender
        let heard = HeardBox()
        box = heard
        let own = KeySpace.topic(id)
        subscriber = RedisSubscriber(
            configuration: try redis.configuration, eventLoop: loop, logger: logger,
            callbacks: .init(onMessage: { topic, payload in
                if topic == own {
                    guard let event = try? GatewayEvent(payload: payload.readableBytesView) else { return }
                    if case .reply(let id, let outcome) = event {
                        sender.received(id, outcome)
                    } else {
                        heard.value.withLock { $0.events.append(event) }
                    }
                } else if let event = try? SignalingProtocol.ChannelEvent(payload: payload.readableBytesView) {
                    heard.value.withLock { $0.channels[topic, default: []].append(event) }
                }
            }))
        connection.start()
        subscriber.start()
        try await subscribe(own)
    }

    func close() async {
        await subscriber.close()
        await connection.close()
    }

    /// The events published to the gateway, without the replies to commands.
    var events: [GatewayEvent] { box.value.withLock { $0.events } }

    /// Subscribes to a channel, as a gateway does for its members.
    func listen(to channel: ChannelKey) async throws { try await subscribe(KeySpace.topic(channel)) }

    /// The events published in a channel since ``listen(to:)``.
    func heard(in channel: ChannelKey) -> [SignalingProtocol.ChannelEvent] {
        box.value.withLock { $0.channels[KeySpace.topic(channel)] ?? [] }
    }

    func send<C: ServiceCommand>(_ command: C, within time: Duration = .seconds(8 * patience)) async throws
        -> C.Reply
    {
        let sender = self.sender
        let loop = connection.eventLoop
        return try await withCheckedThrowingContinuation { (done: CheckedContinuation<C.Reply, any Error>) in
            loop.execute { sender.send(command, within: time) { done.resume(with: $0.mapError { $0 }) } }
        }
    }

    /// The error that a command is refused with; nil when it succeeds.
    func refusal<C: ServiceCommand>(
        _ command: C, within time: Duration = .seconds(8 * patience)
    ) async throws -> SignalingError? {
        do {
            _ = try await send(command, within: time)
            return nil
        } catch let error as SignalingError {
            return error
        }
    }

    private func subscribe(_ topic: String) async throws {
        let subscriber = self.subscriber
        let loop = connection.eventLoop
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            loop.execute { subscriber.subscribe(topic) { done.resume(with: $0.mapError { $0 }) } }
        }
    }
}

extension SignalingProtocol.ChannelEvent {
    /// A description of the event without its sequence number and id.
    var summary: String {
        switch kind {
        case .message(let body): "\(account) msg \(body)"
        case .joined: "\(account) joined"
        case .left: "\(account) left"
        case .attributes(.update(let attribute)): "\(account) \(attribute.name)=\(attribute.value)"
        case .attributes(.delete(let name)): "\(account) del \(name)"
        case .attributes(.clear): "\(account) clear"
        }
    }
}

extension ProcessLeases<GatewayID> {
    /// Renews everything about a gateway's lease, as each of its heartbeats does.
    /// - Returns: whether all of its leases existed.
    func heartbeat(
        _ gateway: GatewayID, _ lease: GatewayLease, isDraining: Bool = false
    ) async throws(RedisError) -> Bool {
        var wasHeld = true
        for place in places(of: gateway) {
            wasHeld = try await renew(gateway, lease, at: place, isDraining: isDraining) && wasHeld
            try await watch(gateway, at: place)
        }
        if isDraining { try await withdraw(gateway) } else { try await announce(gateway, lease) }
        return wasHeld
    }
}

extension ProcessLeases<BridgeID> {
    /// Renews everything about a sip-bridge's lease, as each of its heartbeats does.
    /// - Returns: whether the lease existed.
    func heartbeat(_ bridge: BridgeID) async throws(RedisError) -> Bool {
        let wasHeld = try await renew(bridge)
        try await watch(bridge)
        try await announce(bridge)
        return wasHeld
    }
}

extension LeaseHolder {
    /// Lets some of the holder's leases end as if no heartbeat had come for their time to live, without the wait.
    /// - Parameter numbers: default all.
    func expire(_ numbers: [Int]? = nil, on connection: RedisClient) async throws(RedisError) {
        let fleet = Self.fleet
        for place in fleet.places(of: self, in: connection.bus) where numbers?.contains(place.number) ?? true {
            _ = try await connection.execute(
                RedisCommand("PEXPIRE", key: place.key, .milliseconds(fleet.keptAfterEnd)))
        }
    }
}

extension GatewayLease {
    /// What the gateways of these tests tell by their leases.
    static let ofTest = GatewayLease(host: "127.0.0.1", port: 8000, connections: 0)
}
