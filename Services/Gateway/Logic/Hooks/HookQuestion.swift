package import BusProtocol
package import SignalingProtocol
package import SignalingWire

/// What an app's server is asked, before it happens.
package enum HookQuestion: Equatable, Sendable {
    /// May the user log in? The token is what the client gave, and was checked if the app requires one.
    case login(UserKey, token: String, device: String)
    /// May the session join this channel?
    case join(StartedCall, ChannelName)
    /// May the session send this message?
    case message(StartedCall, ClientCall.MessageAct)

    /// The app that is asked.
    package var app: AppID {
        switch self {
        case .login(let user, _, _): user.app
        case .join(let call, _), .message(let call, _): call.session.user.app
        }
    }

    /// What kind of question it is.
    package var point: HookPoint {
        switch self {
        case .login: .login
        case .join: .join
        case .message: .send
        }
    }

    /// The body of the request: a JSON object (`Docs/webhooks.md`).
    /// - Parameter address: the client's IP address, told with a login.
    package func body(address: String) -> String {
        var members = [
            JSONMember("hook", point.rawValue), JSONMember("app", app.rawValue),
        ]
        func add(_ name: String, _ text: String) { members.append(JSONMember(name, text)) }
        func add(_ session: ActiveSession) {
            add("account", session.user.account.rawValue)
            members.append(JSONMember("uid", session.actor.uid))
        }
        switch self {
        case .login(let user, let token, let device):
            add("account", user.account.rawValue)
            add("token", token)
            add("device", device)
            add("address", address)
        case .join(let call, let name):
            add(call.session)
            add("channel", name.rawValue)
        case .message(let call, .toUser(let receiver, _, let content)):
            add(call.session)
            add("to", receiver.rawValue)
            add("text", content)
        case .message(let call, .toChannel(let name, let body, _)):
            add(call.session)
            add("channel", name.rawValue)
            add("text", body)
        }
        return JSONValue.object(members).compactText
    }
}

extension ClientCall.MessageAct {
    /// The same message with another text.
    func rewritten(_ text: String) -> Self {
        switch self {
        case .toUser(let receiver, let seconds, _): .toUser(receiver, seconds: seconds, content: text)
        case .toChannel(let name, _, let force): .toChannel(name, body: text, force: force)
        }
    }
}
