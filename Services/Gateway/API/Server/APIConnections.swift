internal import GatewayAPILogic
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
internal import ServiceMetrics
internal import Synchronization

/// The open connections of the server API.
final class APIConnections: Sendable {
    private struct State {
        var places: ConnectionPlaces
        var channels: [ConnectionPlaces.ID: any Channel] = [:]
    }

    private let state: Mutex<State>
    /// Under what an address is counted; nil for those that are not.
    private let addressKey: @Sendable (SocketAddress) -> String?

    init(bound: Int, addressBound: Int, addressKey: @escaping @Sendable (SocketAddress) -> String?) {
        state = Mutex(State(places: ConnectionPlaces(bound: bound, addressBound: addressBound)))
        self.addressKey = addressKey
    }

    /// Under what a connection's address is counted.
    func key(of channel: any Channel) -> String? { channel.remoteAddress.flatMap(addressKey) }

    /// Gives a connection a place.
    /// - Returns: nil when there is none.
    fileprivate func opened(_ channel: any Channel) -> ConnectionPlaces.ID? {
        let key = key(of: channel)
        let (opening, evicted) = state.withLock { state in
            let opening = state.places.opened(from: key)
            var evicted: (any Channel)?
            switch opening {
            case .admitted(let id): state.channels[id] = channel
            case .admittedInsteadOf(let other, let id):
                evicted = state.channels.removeValue(forKey: other)
                state.channels[id] = channel
            case .full, .addressIsFull: break
            }
            APIMetrics.shared.connections.set(state.places.count)
            return (opening, evicted)
        }
        if let evicted {
            APIMetrics.shared.evicted.increment()
            evicted.close(promise: nil)
        }
        switch opening {
        case .admitted(let id), .admittedInsteadOf(_, let id): return id
        case .full, .addressIsFull:
            APIMetrics.shared.turnedAway.increment()
            return nil
        }
    }

    fileprivate func closed(_ id: ConnectionPlaces.ID) {
        state.withLock { state in
            state.places.closed(id)
            state.channels[id] = nil
            APIMetrics.shared.connections.set(state.places.count)
        }
    }

    fileprivate func began(_ id: ConnectionPlaces.ID) { state.withLock { $0.places.began(id) } }

    fileprivate func waits(_ id: ConnectionPlaces.ID, isProven: Bool) {
        state.withLock { $0.places.waits(id, isProven: isProven) }
    }
}

/// Ends a connection that has no place, that takes nothing of its answers, or that has shown no valid key for too long.
final class APIConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: APIConnections
    private var connection = APIConnection(now: now)
    private var id: ConnectionPlaces.ID?
    private var look: Scheduled<Void>?
    /// For each request without an answer yet, in the order of arrival: whether it has a key.
    private var haveKeys = CircularBuffer<Bool>()
    private var status = 0

    init(_ connections: APIConnections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard id == nil else { return }
        id = connections.opened(context.channel)
        guard id != nil else { return context.close(promise: nil) }
        check(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        look?.cancel()
        if let id { connections.closed(id) }
        id = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            haveKeys.append(head.headerFields[.authorization] != nil)
            connection.began()
            if let id, connection.underWay == 1 { connections.began(id) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.status.code >= 200 { status = head.status.code }
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let mayGoOn = answered(context)
            context.write(data, promise: promise)
            if !mayGoOn {
                context.flush()
                context.close(promise: nil)
            }
        }
    }

    /// - Returns: whether the connection may go on.
    private func answered(_ context: ChannelHandlerContext) -> Bool {
        // A request that could not be read is answered, though it has no head.
        guard let hadKey = haveKeys.popFirst() else { return true }
        // An answer of 429 may be about a key that was not looked up.
        let mayGoOn = connection.answered(hasKey: hadKey && status != 401 && status != 429, now: Self.now)
        if let id, connection.underWay == 0 { connections.waits(id, isProven: connection.isProven) }
        check(context)
        return mayGoOn
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        connection.isWritable(context.channel.isWritable, now: Self.now)
        check(context)
        context.fireChannelWritabilityChanged()
    }

    private func check(_ context: ChannelHandlerContext) {
        look?.cancel()
        look = nil
        let (reason, again) = connection.check(now: Self.now)
        if let reason {
            switch reason {
            case .stalled: APIMetrics.shared.stalled.increment()
            case .idle: break
            }
            return context.close(promise: nil)
        }
        guard let again else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        look = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(again))) {
            let (handler, context) = bound.value
            handler.check(context)
        }
    }

    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds) }
}

@available(*, unavailable)
extension APIConnectionHandler: Sendable {}
