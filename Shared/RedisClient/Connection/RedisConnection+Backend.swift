internal import Logging
internal import NIOCore

/// A single server: the owner of all slots.
extension RedisConnection: RedisBackend {
    var longestWait: TimeAmount { TimeAmount(configuration.commandTimeout) }
    var isWhole: Bool { isConnected }
    var slotsOfMasters: [UInt16] { [0] }
    var clockSpread: Duration? { nil }
    var links: [RedisLinkState] { [linkState] }
    var readiness: RedisReadiness {
        isConnected ? .ready : RedisReadiness(isReady: false, problem: "not connected")
    }

    func onConnected(_ callback: @escaping @Sendable (_ slots: SlotScope) -> Void) { onConnected { callback(.all) } }
    func keepsOrder(of slots: () -> [UInt16]) -> Bool { true }
    func isReachable(slot: UInt16?) -> Bool { isConnected }
    func owner(ofSlot slot: UInt16) -> NodeAddress? { configuration.addresses[0] }
    func term(ofSlot slot: UInt16) -> MasterTerm? { term }
    func clock(ofSlot slot: UInt16) -> RedisClock? { clock }

    /// Asks the server.
    func checkReadiness() async -> RedisReadiness {
        do throws(RedisError) {
            _ = try await execute(RedisCommand("PING"))
            return .ready
        } catch {
            return RedisReadiness(isReady: false, problem: error.description)
        }
    }

    // No slot ever moves.
    func tell(_ observer: any SlotMapObserver & Sendable) {}
    func forget(_ observer: any SlotMapObserver & Sendable) {}
    func wantMap() {}

    func topics(onLoop callbacks: ClusterSubscriber.Callbacks, _ logger: Logger) -> any TopicBackend {
        RedisSubscriber(
            configuration: configuration, onLoop: eventLoop, logger: logger, callbacks: callbacks.ofOneServer)
    }

    func topics(from callbacks: sending ClusterSubscriber.Callbacks, _ logger: Logger) -> any TopicBackend {
        RedisSubscriber(
            configuration: configuration, eventLoop: eventLoop, logger: logger, callbacks: callbacks.ofOneServer)
    }
}

extension RedisSubscriber: TopicBackend {}
