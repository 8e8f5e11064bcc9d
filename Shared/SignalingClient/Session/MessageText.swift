internal import SignalingProtocol
internal import SignalingWire

/// A `msg-v2` line, split into its fields. Source: `Docs/protocol.md`, "Events of a channel" and "Events of calls".
struct MessageText: Equatable {
    var source: String
    var type: String
    var time: Int64
    var content: String

    /// Splits a line into its fields; nil when the text is not a `msg-v2` line.
    init?(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 6, omittingEmptySubsequences: false)
        guard parts.count == 7, parts[0] == "msg-v2" else { return nil }
        source = String(parts[1])
        type = String(parts[4])
        time = Int64(parts[5]) ?? 0
        content = String(parts[6])
    }

    /// The event for a mailbox entry; nil for a type that this version does not know.
    var mailboxEvent: SignalingEvent? {
        if type == "instant" { return .message(InstantMessage(account: source, text: content, time: time)) }
        guard let json = try? JSONValue.parse(content.utf8), let channel = json["channel"]?.string,
            let peer = json["peer"]?.string
        else { return nil }
        let extra = json["extra"]?.string ?? ""
        guard let kind = Self.callKind(type, extra: extra) else { return nil }
        let uid = json["peeruid"]?.integer.flatMap(UInt32.init(exactly:)) ?? 0
        return .call(CallEvent(kind: kind, channel: channel, peer: peer, uid: uid, extra: extra))
    }

    /// The event for a channel's line; nil for a type that this version does not know.
    var channelEvent: SignalingEvent? {
        guard let json = try? JSONValue.parse(content.utf8), let channel = json["channel"]?.string,
            let account = json["account"]?.string
        else { return nil }
        let uid = json["uid"]?.integer.flatMap(UInt32.init(exactly:)) ?? 0
        switch type {
        case "channel_msg":
            return .channelMessage(channel: channel, account: account, uid: uid, text: json["msg"]?.textOrCompact ?? "")
        case "channel_user_join": return .memberJoined(channel: channel, account: account, uid: uid)
        case "channel_user_leave": return .memberLeft(channel: channel, account: account, uid: uid)
        case "channel_attr_update":
            let name = json["name"]?.string ?? ""
            let change: ChannelAttributeChange =
                switch json["type"]?.string {
                case "del": .delete(name: name)
                case "clear": .clear
                default: .update(name: name, value: json["value"]?.textOrCompact ?? "")
                }
            return .channelAttribute(channel: channel, account: account, uid: uid, change: change)
        default: return nil
        }
    }

    private static func callKind(_ type: String, extra: String) -> CallEvent.Kind? {
        switch type {
        case "voip_invite": return .invited
        case "voip_invite_ack": return .delivered
        case "voip_invite_accept": return .accepted
        case "voip_invite_refuse": return .refused
        case "voip_invite_bye": return .ended
        case "voip_invite_failed":
            let code = (try? JSONValue.parse(extra.utf8))?["code"]?.integer
            return .failed(code.flatMap { SignalingCode(rawValue: Int($0)) } ?? .inviteOther)
        case "voip_invite_msg":
            let json = try? JSONValue.parse(extra.utf8)
            return .message(type: json?["msgtype"]?.string ?? "", data: json?["msgdata"]?.textOrCompact ?? "")
        default: return nil
        }
    }
}
