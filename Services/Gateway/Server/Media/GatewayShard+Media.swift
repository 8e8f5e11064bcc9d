internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import Logging
internal import RedisClient
internal import SignalingProtocol

/// The shard's participants in media channels, and the nodes that they are at.
extension GatewayShard {
    /// How long a node may take to answer.
    private static let nodePatience = Duration.seconds(2)

    /// Passes an event on to those whom it concerns.
    func tell(_ publication: MediaPublication) {
        // Unknown participants are those whose connection has ended: who takes them over asks for the roster.
        for participant in publication.participants {
            participants[participant]?.received(publication, for: participant, on: self)
        }
    }

    /// Lets a connection have a participant's events, and no other one.
    func bind(_ participant: ParticipantID, to connection: ClientConnection) {
        let other = participants.updateValue(connection, forKey: participant)
        if let other, other !== connection { other.media?.ended(participant, now: .now) }
    }

    /// Passes the node of a channel to the callback; nil when no node takes participants.
    func findMediaNode(
        for channel: MediaChannelKey, avoiding avoid: [MediaNodeID] = [],
        _ callback: @escaping (MediaNodeID?) -> Void
    ) {
        let choose = { [self] in callback(mediaNodes.node(for: channel, avoiding: avoid, now: .now)) }
        guard mediaNodes.isStale(now: .now) else { return choose() }
        awaitingMediaNodes.append(choose)
        guard awaitingMediaNodes.count == 1 else { return }
        Task { await listMediaNodes() }
    }

    private func listMediaNodes() async {
        do {
            let living = try await MediaNodeList(connection: redis).living()
            mediaNodes.take(living.map { ($0.id, $0.record.load, $0.record.isDraining) }, now: .now)
        } catch {
            mediaNodes.isUnreadable(now: .now)
            logger.warning("could not list the media nodes", metadata: ["error": "\(error)"])
        }
        let waiting = awaitingMediaNodes
        awaitingMediaNodes = []
        for act in waiting { act() }
    }

    /// Sends a command to a media node.
    func ask<Command: ServiceCommand>(
        _ command: Command, _ callback: @escaping (Result<Command.Reply, MediaRefusal>) -> Void
    ) {
        sender.send(command, within: Self.nodePatience) { [self] result in
            // A node that is only silent may be alive, and have the channel.
            if let node = command.node, case .failure(let error) = result, error.tellsOfALeavingNode {
                mediaNodes.isLeaving(node)
            }
            callback(result.mapError { MediaRefusal($0) })
        }
    }

    /// Ends a participant that nobody knows: the node may have let it in.
    func undo(_ join: JoinMedia) {
        let leave = LeaveMedia(from: join.to, channel: join.channel, participant: join.participant)
        // Whatever comes of it: the node drops who sends nothing.
        ask(leave) { _ in }
    }
}

extension SignalingError {
    /// Whether the media node that was asked drains, or has no stream any more.
    fileprivate var tellsOfALeavingNode: Bool {
        reason == .nodeUnreachable || MediaRefusal(rawValue: reason.rawValue) == .draining
    }
}
