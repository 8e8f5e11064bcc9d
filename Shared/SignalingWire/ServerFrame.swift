public import SignalingProtocol

/// What the gateway sends: the payload of one text frame each. Source: wire protocol, sections 2 to 6 and 12.
public enum ServerFrame {
    /// `login_ret` of a successful login.
    public static func loginSucceeded(line: String, uid: UInt32, push: Bool) -> [UInt8] {
        frame("login_ret", ["", sessionFields(line: line, uid: uid, push: push)])
    }

    /// `login_ret` of a failed login; the reason decides what the web clients report.
    public static func loginFailed(_ error: SignalingError) -> [UInt8] {
        frame("login_ret", [error.reason, failure(error)])
    }

    /// The answer to `line_login`. `complete`: no event between the client's `after` and now is missing.
    public static func lineLoginSucceeded(
        line: String, uid: UInt32, push: Bool, channel: ChannelName?, complete: Bool
    ) -> [UInt8] {
        var more = [JSONMember("resumed", .bool(true)), JSONMember("complete", .bool(complete))]
        if let channel { more.append(JSONMember("channel", .string(channel.rawValue))) }
        return frame("line_login_ret", ["", sessionFields(line: line, uid: uid, push: push, more)])
    }

    /// `pong`, with the number of the ping.
    public static func pong(_ number: JSONValue) -> [UInt8] {
        var bytes = Array("[\"pong\",".utf8)
        number.append(to: &bytes)
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// `close`: the session is over.
    public static func close(_ code: SignalingCode) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.array([.string("close"), .string(closeReason(code))]).append(to: &bytes)
        return bytes
    }

    /// `call2-ret` of a successful call.
    /// - Parameter id: the call's id as JSON text.
    public static func callSucceeded(id: String, _ body: ReplyBody) -> [UInt8] {
        if case .joined(let joinID, let members, let attributes) = body {
            return joined(id: id, joinID: joinID, members: members, attributes: attributes)
        }
        return callReturn(id: id, error: "", data: body.json)
    }

    /// `call2-ret` of a failed call: each of the old clients finds the error where it looks for it.
    public static func callFailed(id: String, _ error: SignalingError) -> [UInt8] {
        callReturn(id: id, error: error.reason, data: failureFields(error))
    }

    /// Tells that the mailbox has an entry of this version.
    public static func notifyMessage(version: Int64) -> [UInt8] {
        Array("[\"notify\",[\"msg\",\(version)]]".utf8)
    }

    /// The entry itself, for clients that take pushes (section 12.18).
    public static func pushMessage(_ entry: MailboxEntry) -> [UInt8] {
        let pushed = JSONValue.array([.number(String(entry.version)), .string(entry.line)]).compactText
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pushed.utf8.count + 64)
        JSONValue.array([.string("notify"), .array([.string("recvmsg"), .string(pushed)])]).append(to: &bytes)
        return bytes
    }

    /// An event of a channel, under the id that this receiver is shown.
    public static func channelEvent(_ event: ChannelEvent, channel: ChannelName, id: Int64) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(256)
        appendContent(event, channel: channel, to: &content)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count + content.count / 4 + 128)
        bytes.append(contentsOf: "[\"notify\",[\"channel2\",0,".utf8)
        bytes.append(contentsOf: String(id).utf8)
        bytes.append(contentsOf: ",\"msg-v2 ".utf8)
        JSONText.appendEscaped(event.account.rawValue, to: &bytes)
        bytes.append(contentsOf: " - v1:E:0 ".utf8)
        bytes.append(contentsOf: type(event.kind).utf8)
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: String(event.id / 1_000_000).utf8)
        bytes.append(UInt8(ascii: " "))
        content.withUnsafeBufferPointer { JSONText.appendEscaped($0, to: &bytes) }
        bytes.append(contentsOf: "\"]]".utf8)
        return bytes
    }

    // MARK: - The parts

    private static func type(_ kind: ChannelEvent.Kind) -> String {
        switch kind {
        case .message: "channel_msg"
        case .joined: "channel_user_join"
        case .left: "channel_user_leave"
        case .attributes: "channel_attr_update"
        }
    }

    /// Channel, account and uid stand in every event: one client dies without.
    private static func appendContent(_ event: ChannelEvent, channel: ChannelName, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "{\"channel\":".utf8)
        JSONText.append(channel.rawValue, to: &bytes)
        bytes.append(contentsOf: ",\"account\":".utf8)
        JSONText.append(event.account.rawValue, to: &bytes)
        bytes.append(contentsOf: ",\"uid\":".utf8)
        bytes.append(contentsOf: String(event.uid).utf8)
        switch event.kind {
        case .message(let body):
            bytes.append(contentsOf: ",\"msg\":".utf8)
            JSONText.append(body, to: &bytes)
        case .joined, .left:
            break
        case .attributes(.update(let attribute)):
            appendChange("update", name: attribute.name.rawValue, value: attribute.value, to: &bytes)
        case .attributes(.delete(let name)):
            appendChange("del", name: name.rawValue, value: "", to: &bytes)
        case .attributes(.clear):
            appendChange("clear", name: "", value: "", to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func appendChange(_ type: String, name: String, value: String, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"name\":".utf8)
        JSONText.append(name, to: &bytes)
        bytes.append(contentsOf: ",\"value\":".utf8)
        JSONText.append(value, to: &bytes)
        bytes.append(contentsOf: ",\"type\":\"\(type)\"".utf8)
    }

    private static func frame(_ name: String, _ argument: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.array([.string(name), .array(argument.map(JSONValue.string))]).append(to: &bytes)
        return bytes
    }

    private static func callReturn(id: String, error: String, data: JSONValue) -> [UInt8] {
        let text = data.compactText
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + text.utf8.count / 4 + 64)
        bytes.append(contentsOf: "[\"call2-ret\",[".utf8)
        bytes.append(contentsOf: id.utf8)
        bytes.append(UInt8(ascii: ","))
        JSONText.append(error, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        JSONText.append(text, to: &bytes)
        bytes.append(contentsOf: "]]".utf8)
        return bytes
    }

    private static func sessionFields(
        line: String, uid: UInt32, push: Bool, _ more: [JSONMember] = []
    ) -> String {
        var members = [
            JSONMember("result", .string("ok")), JSONMember("line", .string(line)),
            JSONMember("uid", .number(String(uid))),
        ]
        // Only our own clients asked for it, and only they may see it.
        if push { members.append(JSONMember("push", .number("1"))) }
        return JSONValue.object(members + more).compactText
    }

    private static func failureFields(_ error: SignalingError) -> JSONValue {
        .object([
            JSONMember("result", .string("failed")), JSONMember("reason", .string(error.reason)),
            JSONMember("code", .number(String(error.code.rawValue))),
            JSONMember("message", .string(error.message)),
            JSONMember("data", .object([JSONMember("result", .string(error.reason))])),
        ])
    }

    private static func failure(_ error: SignalingError) -> String { failureFields(error).compactText }

    private static func closeReason(_ code: SignalingCode) -> String {
        switch code {
        case .logoutKicked: "kick"
        case .logoutTokenExpired: "token_expired"
        case .notLoggedIn: "bad_line"
        default: String(code.rawValue)
        }
    }
}
