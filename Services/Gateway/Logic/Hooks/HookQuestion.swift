package import SignalingProtocol
internal import SignalingWire

/// What an app's server is asked, before it happens.
package enum HookQuestion: Equatable, Sendable {
    /// May the user log in? The token is what the client gave, and was checked if the app requires one.
    case login(UserKey, token: String, device: String)
    /// May the session do this? A join or a message.
    case call(StartedCall)

    /// The app that is asked.
    package var app: AppID {
        switch self {
        case .login(let user, _, _): user.app
        case .call(let call): call.session.user.app
        }
    }

    /// What kind of question it is; nil for a call that no app is asked about.
    package var point: HookPoint? {
        switch self {
        case .login: .login
        case .call(let call): call.act.hookPoint
        }
    }

    /// The body of the request: a JSON object (`Docs/webhooks.md`).
    /// - Parameter address: the client's IP address, told with a login.
    package func body(address: String) -> String {
        var members = [
            JSONMember("hook", .string(point?.rawValue ?? "")), JSONMember("app", .string(app.rawValue)),
        ]
        func add(_ name: String, _ text: String) { members.append(JSONMember(name, .string(text))) }
        switch self {
        case .login(let user, let token, let device):
            add("account", user.account.rawValue)
            add("token", token)
            add("device", device)
            add("address", address)
        case .call(let call):
            add("account", call.session.user.account.rawValue)
            members.append(JSONMember("uid", .number("\(call.session.actor.uid)")))
            switch call.act {
            case .join(let name): add("channel", name.rawValue)
            case .sendMessage(let receiver, _, let content):
                add("to", receiver.rawValue)
                add("text", content)
            case .sendChannelMessage(let name, let body, _):
                add("channel", name.rawValue)
                add("text", body)
            case .pollMailbox, .logOut, .queryStatus, .setAttribute, .getAttribute, .listAttributes, .leave,
                .changeAttributes, .countMembers, .queryMember, .listMembers, .call:
                break
            }
        }
        return JSONValue.object(members).compactText
    }
}

extension ClientCall.Act {
    /// What an app may be asked before this call; nil for calls that it is not asked about.
    fileprivate var hookPoint: HookPoint? {
        switch self {
        case .join: .join
        case .sendMessage, .sendChannelMessage: .send
        case .pollMailbox, .logOut, .queryStatus, .setAttribute, .getAttribute, .listAttributes, .leave,
            .changeAttributes, .countMembers, .queryMember, .listMembers, .call:
            nil
        }
    }

    /// The same message with another text; other calls unchanged.
    func rewritten(_ text: String) -> ClientCall.Act {
        switch self {
        case .sendMessage(let receiver, let seconds, _): .sendMessage(to: receiver, seconds: seconds, content: text)
        case .sendChannelMessage(let name, _, let force): .sendChannelMessage(name, body: text, force: force)
        case .join, .pollMailbox, .logOut, .queryStatus, .setAttribute, .getAttribute, .listAttributes, .leave,
            .changeAttributes, .countMembers, .queryMember, .listMembers, .call:
            self
        }
    }
}
