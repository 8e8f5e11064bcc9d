internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
package import SignalingProtocol
package import SignalingWire

/// Gives any thread access to a running client. Requests are carried out on the client's event loop, those of one
/// thread in their order.
package struct ClientHandle: Sendable {
    private let eventLoop: any EventLoop
    private let driver: NIOLoopBoundBox<ClientDriver>
    /// The ticket of the latest call.
    private let lastTicket = NIOLockedValueBox<Int64>(0)

    /// Creates a client that is not started yet.
    /// - Parameter sink: receives the events, on the event loop; ``consumed(_:)`` must be called for each when the app
    ///   has taken it.
    package init(configuration: ClientConfiguration, sink: @escaping @Sendable (SignalingEvent) -> Void) {
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let driver = ClientDriver(configuration: configuration, eventLoop: eventLoop, sink: sink)
        self.driver = .makeBoxSendingValue(driver, eventLoop: eventLoop)
    }

    /// Logs in.
    package func start() { run { $0.handle(.start) } }

    /// Calls a function of the gateway.
    /// - Parameter completion: called once, on the event loop.
    /// - Returns: the call's ticket, for ``cancel(_:)``.
    @discardableResult
    package func call(
        _ function: String, _ arguments: [JSONMember],
        _ completion: @escaping @Sendable (Result<JSONValue, SignalingError>) -> Void
    ) -> Int64 {
        let ticket = lastTicket.withLockedValue { last in
            last += 1
            return last
        }
        run { $0.call(function, arguments, ticket: ticket, completion) }
        return ticket
    }

    /// Gives up a call: if it has not been answered yet, it completes with `cancelled`.
    func cancel(_ ticket: Int64) { run { $0.handle(.cancelled(ticket: ticket)) } }

    /// Logs out; the last event reports when that is done.
    package func logOut() { run { $0.handle(.logOut) } }

    /// Ends at once, without informing the gateway.
    func abandon() { run { $0.handle(.abandon) } }

    /// Reports that the app has taken events.
    package func consumed(_ count: Int) { run { $0.handle(.eventsTaken(count)) } }

    /// Passes the client's status to `body`, on the event loop.
    func withStatus(_ body: @escaping @Sendable (ClientStatus) -> Void) { run { body($0.status) } }

    /// Passes the gateway in use, or the last one that was tried, to `body`, on the event loop.
    func withGateway(_ body: @escaping @Sendable (GatewayEndpoint?) -> Void) { run { body($0.gateway) } }

    private func run(_ body: @escaping @Sendable (ClientDriver) -> Void) {
        eventLoop.execute { [driver] in body(driver.value) }
    }
}
