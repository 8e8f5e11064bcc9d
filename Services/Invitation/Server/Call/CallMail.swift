internal import InvitationLogic
internal import MessageStore
internal import SignalingProtocol
internal import SignalingWire

/// Turns a delivery into a mailbox entry.
struct CallMail {
    private let delivery: CallDelivery
    private let channel: ChannelKey

    init(_ delivery: CallDelivery, in channel: ChannelKey) {
        self.delivery = delivery
        self.channel = channel
    }

    /// The mailbox entry, idempotent by `command`.
    /// - Parameter now: in ms of Redis' clock.
    func message(_ command: CommandID, now: Int64) -> UserMessage {
        var message = UserMessage(
            to: UserKey(app: channel.app, account: delivery.receiver), line: line(now: now),
            timeToLive: delivery.timeToLive, condition: condition)
        message.command = command
        return message
    }

    private func line(now: Int64) -> String {
        let content = CallContent(
            channel: channel.name, peer: delivery.peer.rawValue, extra: delivery.extra, peerUID: delivery.peerUID)
        // Rounded up: the time to live in the line must not end before the entry's.
        let seconds = Int((delivery.timeToLive + 999) / 1000)
        return MessageLine.call(
            type: delivery.type.rawValue,
            MessageLine.Header(
                from: delivery.peer.rawValue, to: delivery.receiver, ttl: seconds, time: now / 1000),
            content)
    }

    private var condition: UserMessage.Condition {
        let call = delivery.call.rawValue
        return switch delivery.audience {
        case .anyone: .invitation(call: call)
        case .session(let session):
            .callEvent(type: delivery.type.rawValue, call: call, knownBy: session, invitedAt: nil)
        case .invited(let version):
            .callEvent(type: delivery.type.rawValue, call: call, knownBy: nil, invitedAt: version)
        }
    }
}
