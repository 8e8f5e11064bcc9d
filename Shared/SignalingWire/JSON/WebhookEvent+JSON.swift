package import SignalingProtocol

extension WebhookEvent {
    /// The event as webhooks send it (`Docs/webhooks.md`): a JSON object without NUL characters.
    package var json: String {
        var members = [
            JSONMember("id", id), JSONMember("kind", kind.rawValue),
            JSONMember("at", microseconds / 1000),
        ]
        switch subject {
        case .user(let account, let uid, let reason):
            members += Self.user(account, uid)
            members.append(Self.reason(reason))
        case .member(let account, let uid, let channel, let reason):
            members += Self.user(account, uid)
            members.append(JSONMember("channel", channel.rawValue))
            members.append(Self.reason(reason))
        case .channel(let channel):
            members.append(JSONMember("channel", channel.rawValue))
        case .call(let call):
            members += [
                JSONMember("call", call.id), JSONMember("state", call.state.rawValue),
                JSONMember("channel", call.channel.rawValue), JSONMember("caller", call.caller),
                JSONMember("callee", call.callee), JSONMember("direction", call.direction),
            ]
            if let code = call.endCode { members.append(JSONMember("reason", code)) }
        }
        return JSONValue.object(members).compactText
    }

    private static func user(_ account: Account, _ uid: UInt32) -> [JSONMember] {
        [JSONMember("account", account.rawValue), JSONMember("uid", uid)]
    }

    private static func reason(_ reason: SignalingCode) -> JSONMember {
        JSONMember("reason", reason.rawValue)
    }
}
