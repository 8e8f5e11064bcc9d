internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import Logging
internal import ServiceMetrics
internal import SignalingProtocol

/// Bans of client addresses.
extension GatewayShard {
    private static let bansPatience = Duration.seconds(2)

    /// Asks presence for the banned networks, for all shards of the process.
    /// - Returns: whether they are others than before.
    func renewBans() async -> Bool {
        let command = GetBannedNetworks(known: addressLimiter.knownBans)
        return await withCheckedContinuation { asked in
            sender.send(command, within: Self.bansPatience) { [self] answer in
                switch answer {
                case .success(let banned):
                    if let networks = banned.networks { addressLimiter.adopt(networks, digest: banned.digest) }
                    asked.resume(returning: banned.networks != nil)
                case .failure(let error):
                    logger.debug(
                        "could not read which addresses are banned; those of before are",
                        metadata: ["error": "\(error)"])
                    asked.resume(returning: false)
                }
            }
        }
    }

    /// Closes the connections from banned networks.
    func closeBanned() {
        for connection in connections.values where addressLimiter.isBanned(connection.remote) {
            GatewayMetrics.shared.bannedRefused.increment()
            connection.handle(.close(.banned), on: self)
        }
    }
}
