internal import Logging
internal import NIOCore

/// What is different for a single server and for several masters, of which ``RedisClient`` is the common part: a
/// ``RedisConnection``, or ``ClusterMasters``. On the event loop only, unless said otherwise; see the methods of the
/// client.
protocol RedisBackend: AnyObject, Sendable {
    /// May be called from any thread, as ``close()`` and ``onConnected(_:)``.
    func start()
    func close() async
    func onConnected(_ callback: @escaping @Sendable (_ slots: SlotScope) -> Void)
    /// May be read from any thread, as ``connectionCount``.
    var isConnected: Bool { get }
    var connectionCount: Int { get }

    func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline?,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void)
    func beforeWriting(_ act: @escaping () -> Void)
    /// Whether commands of these slots, one after the other, take effect in this order when all are sent at once.
    func keepsOrder(of slots: () -> [UInt16]) -> Bool
    /// How long a command that is sent now takes at most.
    var longestWait: TimeAmount { get }

    var isWhole: Bool { get }
    /// - Parameter slot: nil for a command that names none.
    func isReachable(slot: UInt16?) -> Bool
    var slotsOfMasters: [UInt16] { get }
    func owner(ofSlot slot: UInt16) -> NodeAddress?
    func term(ofSlot slot: UInt16) -> MasterTerm?
    func clock(ofSlot slot: UInt16) -> RedisClock?
    var clockSpread: Duration? { get }
    var links: [RedisLinkState] { get }
    var readiness: RedisReadiness { get }
    /// May be called from any thread.
    func checkReadiness() async -> RedisReadiness

    /// Tells of changes of the slots' owners, until ``forget(_:)``.
    func tell(_ observer: any SlotMapObserver & Sendable)
    func forget(_ observer: any SlotMapObserver & Sendable)
    /// Has the map of slots read.
    func wantMap()

    /// A subscriber whose owner is isolated to the loop. May be called from any thread, as ``topics(from:_:)``.
    func topics(onLoop callbacks: ClusterSubscriber.Callbacks, _ logger: Logger) -> any TopicBackend
    func topics(from callbacks: sending ClusterSubscriber.Callbacks, _ logger: Logger) -> any TopicBackend
}

/// What is different for topics of a single server and of several masters; see ``ClusterSubscriber``.
protocol TopicBackend: AnyObject, Sendable {
    /// May be called from any thread, as ``close()``.
    func start()
    func close() async
    /// May be read from any thread.
    var isConnected: Bool { get }
    func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void)
    func unsubscribe(_ topic: String)
}
