internal import ClusterState
internal import InvitationLogic
internal import MessageStore
internal import Pacing
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

/// Turns a delivery into a mailbox entry.
struct CallMail {
    private let delivery: CallDelivery
    private let channel: ChannelKey
    private var event: CallEvent { delivery.event }

    init(_ delivery: CallDelivery, in channel: ChannelKey) {
        self.delivery = delivery
        self.channel = channel
    }

    /// The mailbox entry, idempotent by `command`.
    func message(_ command: CommandID, now: RedisTime) -> UserMessage {
        var message = UserMessage(
            to: UserKey(app: channel.app, account: delivery.receiver), line: line(now: now),
            timeToLive: delivery.timeToLive, condition: condition)
        message.command = command
        return message
    }

    private func line(now: RedisTime) -> String {
        let content = CallContent(
            channel: channel.name, peer: event.peer.rawValue, extra: event.extra, peerUID: event.peerUID)
        // Rounded up: the time to live in the line must not end before the entry's.
        let seconds = Int((delivery.timeToLive.wholeMilliseconds + 999) / 1000)
        return MessageLine.call(
            type: event.type.rawValue,
            MessageLine.Header(
                from: event.peer.rawValue, to: delivery.receiver, ttl: seconds, time: now.milliseconds / 1000),
            content)
    }

    private var condition: UserMessage.Condition {
        let call = event.call.rawValue
        return switch delivery.audience {
        case .anyone: .invitation(call: call)
        case .session(let session):
            .callEvent(type: event.type.rawValue, call: call, knownBy: session, invitedAt: nil)
        case .invited(let version):
            .callEvent(type: event.type.rawValue, call: call, knownBy: nil, invitedAt: version)
        }
    }
}
