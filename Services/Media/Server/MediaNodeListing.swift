internal import ClusterBus
internal import Logging
internal import RedisClient
internal import ServiceKit
internal import ServiceLifecycle
internal import SignalingProtocol

/// Lists the node among the living ones, with its load, from when it can be joined until its end.
struct MediaNodeListing: Service {
    let id: MediaNodeID
    let list: MediaNodeList
    /// Its stream must exist before the node is listed: senders never create it.
    let orders: CommandConsumer
    let run: MediaNodeRun
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            try await begin()
            repeat { await announce() } while await Task.pause(MediaNodeList.interval)
        }
        do {
            try await list.withdraw(id)
        } catch {
            // It is left out after a few seconds.
            logger.warning("could not take the media node from the list", metadata: ["error": "\(error)"])
        }
    }

    /// Creates the node's stream as soon as Redis answers.
    private func begin() async throws {
        while run.node == nil { try await Task.sleep(for: .milliseconds(20)) }
        while true {
            do {
                return try await orders.createStream()
            } catch {
                logger.warning(
                    "could not create the media node's stream; trying again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Lists the node once.
    func announce() async {
        guard let node = run.node else { return }
        let record = MediaNodeRecord(load: await node.load, isDraining: await node.isDraining)
        do {
            try await list.announce(id, record)
        } catch {
            logger.warning("could not list the media node", metadata: ["error": "\(error)"])
        }
    }
}
