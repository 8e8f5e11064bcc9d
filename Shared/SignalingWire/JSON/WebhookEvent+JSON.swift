package import SignalingProtocol

extension WebhookEvent {
    /// The event as webhooks send it (`Docs/webhooks.md`): a JSON object without NUL characters.
    package var json: String {
        var members = [
            JSONMember("id", .string(id)), JSONMember("kind", .string(kind.rawValue)),
            JSONMember("at", .number("\(microseconds / 1000)")),
        ]
        switch subject {
        case .user(let account, let uid, let reason):
            members += Self.user(account, uid)
            members.append(Self.reason(reason))
        case .member(let account, let uid, let channel, let reason):
            members += Self.user(account, uid)
            members.append(JSONMember("channel", .string(channel.rawValue)))
            members.append(Self.reason(reason))
        case .channel(let channel):
            members.append(JSONMember("channel", .string(channel.rawValue)))
        case .call(let call):
            members += [
                JSONMember("call", .string(call.id)), JSONMember("state", .string(call.state.rawValue)),
                JSONMember("channel", .string(call.channel.rawValue)), JSONMember("caller", .string(call.caller)),
                JSONMember("callee", .string(call.callee)), JSONMember("direction", .string(call.direction)),
            ]
            if let code = call.endCode { members.append(JSONMember("reason", .number("\(code)"))) }
        }
        return JSONValue.object(members).compactText
    }

    private static func user(_ account: Account, _ uid: UInt32) -> [JSONMember] {
        [JSONMember("account", .string(account.rawValue)), JSONMember("uid", .number("\(uid)"))]
    }

    private static func reason(_ reason: SignalingCode) -> JSONMember {
        JSONMember("reason", .number("\(reason.rawValue)"))
    }
}
