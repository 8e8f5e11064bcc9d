internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import SignalingProtocol
internal import SignalingWire

/// A running client as any thread may hold it. What is asked here happens on the client's event loop, for each thread in the
/// order in which it asked.
struct ClientHandle: Sendable {
    private let eventLoop: any EventLoop
    private let driver: NIOLoopBoundBox<ClientDriver>
    /// The ticket of the last call.
    private let lastTicket = NIOLockedValueBox<Int64>(0)

    /// Makes a client that is not started.
    /// - Parameter sink: takes the events, on the event loop; each is to be reported by ``consumed(_:)`` when the app has
    ///   taken it.
    init(configuration: ClientConfiguration, sink: @escaping @Sendable (SignalingEvent) -> Void) {
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let driver = ClientDriver(configuration: configuration, eventLoop: eventLoop, sink: sink)
        self.driver = .makeBoxSendingValue(driver, eventLoop: eventLoop)
    }

    /// Logs in.
    func start() { run { $0.handle(.start) } }

    /// Makes a call.
    /// - Parameter completion: called once, on the event loop.
    /// - Returns: the call's ticket, for ``cancel(_:)``.
    @discardableResult
    func call(
        _ function: String, _ arguments: [JSONMember], _ completion: @escaping ClientDriver.Completion
    ) -> Int64 {
        let ticket = lastTicket.withLockedValue { last in
            last += 1
            return last
        }
        run { $0.call(function, arguments, ticket: ticket, completion) }
        return ticket
    }

    /// Gives a call up: it is answered with `cancelled`, if it was not answered yet.
    func cancel(_ ticket: Int64) { run { $0.handle(.cancelled(ticket: ticket)) } }

    /// Logs out; the last event tells when it is done.
    func logOut() { run { $0.handle(.logOut) } }

    /// Ends at once, without a word to the gateway.
    func abandon() { run { $0.handle(.abandon) } }

    /// The app has taken events.
    func consumed(_ count: Int) { run { $0.handle(.eventsTaken(count)) } }

    /// What the client is doing; asked on the event loop.
    func withStatus(_ body: @escaping @Sendable (ClientStatus) -> Void) { run { body($0.status) } }

    /// The gateway in use, or tried last; asked on the event loop.
    func withGateway(_ body: @escaping @Sendable (GatewayEndpoint?) -> Void) { run { body($0.gateway) } }

    private func run(_ body: @escaping @Sendable (ClientDriver) -> Void) {
        eventLoop.execute { [driver] in body(driver.value) }
    }
}
