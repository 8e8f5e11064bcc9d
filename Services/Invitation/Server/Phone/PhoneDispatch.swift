internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import Logging
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Sends commands to sip-bridges.
struct PhoneDispatch: Sendable {
    let redis: RedisClient
    let logger: Logger

    /// Asks the sip-bridges to call a telephone; any of them may claim the call.
    /// - Parameters:
    ///   - time: when the request expires.
    ///   - cause: the request of the server API that asks for the call.
    func dial(
        _ call: PhoneCall, _ extra: String, _ id: CommandID, until time: RedisTime, for cause: CommandCause
    ) async throws(SignalingError) {
        _ = try await redis.answer(
            to: PostedCommand.command(
                on: redis.bus, for: DialPhone(call: call, extra: extra), id: id, deadline: time, cause: cause))
    }

    /// Sends an order to the bridge that holds a call. If the bridge is gone, the order is dropped: the bridge's loss
    /// ends the call.
    func send(
        _ order: PhoneOrder, _ id: CommandID, for context: CommandContext
    ) async throws(SignalingError) {
        let command = OrderPhone(call: order.call, act: order.act, extra: order.extra)
        let reply = try await redis.answer(
            to: PostedCommand.command(for: command, id: id, to: order.bridge, cause: context.cause))
        guard reply.isNull else { return }
        InvitationMetrics.shared.ordersDropped.increment()
        logger.about(context).warning(
            "dropped an order for a telephone: its sip-bridge is gone",
            metadata: [
                "call": "\(order.call.id)", "bridge": "\(order.bridge)", "order": "\(order.act.rawValue)",
            ])
    }

    /// Deletes the stream of a lost bridge.
    func close(_ bridge: BridgeID) async throws(SignalingError) {
        _ = try await redis.answer(to: RedisCommand("DEL", key: KeySpace.commands(bridge)))
    }
}
