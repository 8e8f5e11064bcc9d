internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import Logging
internal import ServiceKit
internal import SignalingProtocol

/// Counts what apps use at a shard, and reports it to presence. On the shard's loop only.
final class AppUsage {
    /// The time between two reports: as much is not counted of a gateway that is killed.
    static let pause = Duration.seconds(10)
    private static let secondsPerDay: Int64 = 86_400

    private let gateway: GatewayID
    private let sender: CommandSender
    private let logger: Logger
    private var tally = UsageTally(day: WallClock.seconds / secondsPerDay)

    init(of gateway: GatewayID, sender: CommandSender, logger: Logger) {
        self.gateway = gateway
        self.sender = sender
        self.logger = logger
    }

    /// A message was sent.
    func sent(in app: AppID) { tally.sent(in: app) }

    /// Messages of a channel were written to members.
    func delivered(_ count: Int, in app: AppID) { tally.delivered(count, in: app) }

    /// Reports what presence does not know yet. What it does not take is reported again with what comes.
    /// - Parameter done: called when presence has taken all of it, or does not take it now.
    func report(within limit: Duration, _ done: @escaping () -> Void) {
        let (uses, dropped) = (tally.due(on: WallClock.seconds / Self.secondsPerDay), tally.dropped)
        guard !uses.isEmpty else { return done() }
        sender.send(ReportUsage(gateway: gateway, uses: uses), within: limit) { [self] result in
            switch result {
            case .success:
                tally.reported(uses)
                uses.count == ReportUsage.bound ? report(within: limit, done) : done()
            case .failure(let error):
                logger.debug(
                    "could not report what apps have used; again later",
                    metadata: ["error": "\(error)", "records": "\(uses.count)", "dropped": "\(dropped)"])
                done()
            }
        }
    }
}
