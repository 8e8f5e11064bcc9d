internal import ClusterState
internal import InvitationLogic
internal import Logging
internal import Metrics
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// The way to the sip-bridges.
struct PhoneDispatch: Sendable {
    let redis: RedisConnection
    let logger: Logger

    /// Asks any bridge to call a telephone.
    /// - Parameter time: nobody needs to after it (Redis clock, ms).
    func dial(
        _ call: PhoneCall, _ extra: String, _ id: CommandID, until time: Int64
    ) async throws(SignalingError) {
        _ = try await redis.answer(
            to: PostedCommand.command(
                for: DialPhone(call: call, extra: extra), id: id,
                deadline: RedisTime(milliseconds: time)))
    }

    /// Gives an order to the bridge that holds a call. If the bridge is gone the order is dropped: its loss ends the call.
    func send(_ order: PhoneOrder, _ id: CommandID) async throws(SignalingError) {
        let command = OrderPhone(call: order.call, act: order.act, extra: order.extra)
        let reply = try await redis.answer(to: PostedCommand.command(for: command, id: id, to: order.bridge))
        guard reply.isNull else { return }
        InvitationMetrics.ordersDropped.increment()
        logger.warning(
            "dropped an order for a telephone, its sip-bridge is gone",
            metadata: [
                "call": "\(order.call.id)", "bridge": "\(order.bridge)", "order": "\(order.act.rawValue)",
            ])
    }

    /// Removes a lost bridge's stream.
    func close(_ bridge: BridgeID) async throws(SignalingError) {
        _ = try await redis.answer(to: RedisCommand("DEL", .string(KeySpace.commands(bridge))))
    }
}
