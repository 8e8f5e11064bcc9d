package import SignalingProtocol

/// What the gateway sends: the payload of one text frame each. Source: `Docs/protocol.md`, "Frames".
package enum ServerFrame {
    /// `login_ret` of a successful login.
    package static func loginSucceeded(line: String, uid: UInt32, push: Bool) -> [UInt8] {
        frame("login_ret", ["", sessionFields(line: line, uid: uid, push: push)])
    }

    /// `login_ret` of a failed login. The web clients choose what they report by the reason.
    package static func loginFailed(_ error: SignalingError) -> [UInt8] {
        frame("login_ret", [error.reason.rawValue, failure(error)])
    }

    /// The answer to `line_login`. `complete`: no event between the client's `after` and now is missing.
    package static func lineLoginSucceeded(
        line: String, uid: UInt32, push: Bool, channel: ChannelName?, complete: Bool
    ) -> [UInt8] {
        var more = [JSONMember("resumed", true), JSONMember("complete", complete)]
        if let channel { more.append(JSONMember("channel", channel.rawValue)) }
        return frame("line_login_ret", ["", sessionFields(line: line, uid: uid, push: push, more)])
    }

    /// The answer to a `line_login` that is refused because the connection has a session, which continues.
    package static func lineLoginFailed(_ error: SignalingError) -> [UInt8] {
        frame("line_login_ret", [error.reason.rawValue, failure(error)])
    }

    /// `pong`, with the number of the ping.
    package static func pong(_ number: JSONValue) -> [UInt8] {
        var bytes = Array("[\"pong\",".utf8)
        number.append(to: &bytes)
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// `close`: the session has ended.
    package static func close(_ code: SignalingCode) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.array([.string("close"), .string(closeReason(code))]).append(to: &bytes)
        return bytes
    }

    /// `call2-ret` of a successful call.
    /// - Parameter id: the call's id as JSON text.
    package static func callSucceeded(id: String, _ body: ReplyBody) -> [UInt8] {
        switch body {
        case .done:
            var bytes = start(ofCallReturn: id, content: 0)
            JSONText.append(verbatim: #"","{\"result\":\"ok\"}"]]"#, to: &bytes)
            return bytes
        case .mailbox(let cleared, let entries):
            return mailbox(id: id, cleared: cleared, entries: entries)
        case .joined(let joinID, let members, let attributes):
            return joined(id: id, joinID: joinID, members: members, attributes: attributes)
        case .attributes(let account, let all):
            return attributes(id: id, of: account, all)
        // The replies above are frequent or long, and written without a JSON value in between; any reply may be here.
        default:
            return callReturn(id: id, error: "", data: body.json)
        }
    }

    /// `call2-ret` of a failed call. The error is in three places, because old clients look for it in different ones.
    package static func callFailed(id: String, _ error: SignalingError) -> [UInt8] {
        callReturn(id: id, error: error.reason.rawValue, data: failureFields(error))
    }

    /// Tells that the mailbox has an entry of this version.
    package static func notifyMessage(version: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(48)
        JSONText.append(verbatim: #"["notify",["msg","#, to: &bytes)
        DecimalText.append(version, to: &bytes)
        JSONText.append(verbatim: "]]", to: &bytes)
        return bytes
    }

    /// `notify` with the mailbox entry itself, for clients that asked for pushes at their login (`Docs/protocol.md`).
    package static func pushMessage(_ entry: MailboxEntry) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entry.line.utf8.count * 9 / 8 + 96)
        JSONText.append(verbatim: #"["notify",["recvmsg",""#, to: &bytes)
        append(entry, to: &bytes)
        JSONText.append(verbatim: #""]]"#, to: &bytes)
        return bytes
    }

    /// An event of a channel, under the id that this receiver is shown.
    package static func channelEvent(_ event: ChannelEvent, channel: ChannelName, id: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(contentEstimate(event) + channel.rawValue.utf8.count + 256)
        JSONText.append(verbatim: #"["notify",["channel2",0,"#, to: &bytes)
        DecimalText.append(id, to: &bytes)
        JSONText.append(verbatim: #","msg-v2 "#, to: &bytes)
        JSONText.appendEscaped(event.account.rawValue, to: &bytes)
        JSONText.append(verbatim: " - v1:E:0 ", to: &bytes)
        JSONText.append(verbatim: type(event.kind), to: &bytes)
        bytes.append(UInt8(ascii: " "))
        DecimalText.append(event.id / 1_000_000, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        appendContent(event, channel: channel, to: &bytes)
        JSONText.append(verbatim: #""]]"#, to: &bytes)
        return bytes
    }

    // MARK: - The parts

    private static func type(_ kind: ChannelEvent.Kind) -> StaticString {
        switch kind {
        case .message: "channel_msg"
        case .joined: "channel_user_join"
        case .left: "channel_user_leave"
        case .attributes: "channel_attr_update"
        }
    }

    private static func contentEstimate(_ event: ChannelEvent) -> Int {
        switch event.kind {
        case .message(let body): body.utf8.count * 9 / 8
        case .attributes(.update(let attribute)): attribute.value.utf8.count * 9 / 8 + 128
        case .joined, .left, .attributes(.delete), .attributes(.clear): 128
        }
    }

    /// The content, a JSON text within a JSON string. Every event has channel, account and uid:
    /// one old client crashes without.
    private static func appendContent(_ event: ChannelEvent, channel: ChannelName, to bytes: inout [UInt8]) {
        JSONText.append(verbatim: #"{\"channel\":\""#, to: &bytes)
        JSONText.appendEscaped(channel.rawValue, .twice, to: &bytes)
        JSONText.append(verbatim: #"\",\"account\":\""#, to: &bytes)
        JSONText.appendEscaped(event.account.rawValue, .twice, to: &bytes)
        JSONText.append(verbatim: #"\",\"uid\":"#, to: &bytes)
        DecimalText.append(Int64(event.uid), to: &bytes)
        switch event.kind {
        case .message(let body):
            JSONText.append(verbatim: #",\"msg\":\""#, to: &bytes)
            JSONText.appendEscaped(body, .twice, to: &bytes)
            JSONText.append(verbatim: #"\""#, to: &bytes)
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

    private static func appendChange(_ type: StaticString, name: String, value: String, to bytes: inout [UInt8]) {
        JSONText.append(verbatim: #",\"name\":\""#, to: &bytes)
        JSONText.appendEscaped(name, .twice, to: &bytes)
        JSONText.append(verbatim: #"\",\"value\":\""#, to: &bytes)
        JSONText.appendEscaped(value, .twice, to: &bytes)
        JSONText.append(verbatim: #"\",\"type\":\""#, to: &bytes)
        JSONText.append(verbatim: type, to: &bytes)
        JSONText.append(verbatim: #"\""#, to: &bytes)
    }

    private static func mailbox(id: String, cleared: Int64, entries: [MailboxEntry]) -> [UInt8] {
        let content = entries.reduce(0) { $0 + $1.line.utf8.count * 9 / 8 + 48 }
        var bytes = start(ofCallReturn: id, content: content)
        JSONText.append(verbatim: #"","{\"result\":\"ok\",\"ver_clear\":"#, to: &bytes)
        DecimalText.append(cleared, to: &bytes)
        JSONText.append(verbatim: #",\"msgs\":["#, to: &bytes)
        var separates = false
        for entry in entries {
            if separates { bytes.append(UInt8(ascii: ",")) }
            separates = true
            append(entry, to: &bytes)
        }
        JSONText.append(verbatim: #"]}"]]"#, to: &bytes)
        return bytes
    }

    /// Appends `[VERSION,\"LINE\"]`, a JSON text within a JSON string.
    private static func append(_ entry: MailboxEntry, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        DecimalText.append(entry.version, to: &bytes)
        JSONText.append(verbatim: #",\""#, to: &bytes)
        JSONText.appendEscaped(entry.line, .twice, to: &bytes)
        JSONText.append(verbatim: #"\"]"#, to: &bytes)
    }

    /// A `call2-ret` up to its error's opening quote.
    /// - Parameter content: an estimate of the bytes that follow, for reserving room.
    static func start(ofCallReturn id: String, content: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content + id.utf8.count + 96)
        JSONText.append(verbatim: #"["call2-ret",["#, to: &bytes)
        bytes.append(contentsOf: id.utf8)
        JSONText.append(verbatim: #",""#, to: &bytes)
        return bytes
    }

    static func frame(_ name: String, _ argument: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.array([.string(name), .array(argument.map(JSONValue.string))]).append(to: &bytes)
        return bytes
    }

    static func callReturn(id: String, error: String, data: JSONValue) -> [UInt8] {
        let text = data.compactText
        var bytes = start(ofCallReturn: id, content: text.utf8.count * 5 / 4 + error.utf8.count)
        JSONText.appendEscaped(error, to: &bytes)
        JSONText.append(verbatim: #"",""#, to: &bytes)
        JSONText.appendEscaped(text, to: &bytes)
        JSONText.append(verbatim: #""]]"#, to: &bytes)
        return bytes
    }

    private static func sessionFields(
        line: String, uid: UInt32, push: Bool, _ more: [JSONMember] = []
    ) -> String {
        var members = [
            JSONMember("result", "ok"), JSONMember("line", line),
            JSONMember("uid", uid),
        ]
        // Written only for clients that asked for pushes: the old ones do not know the field.
        if push { members.append(JSONMember("push", 1)) }
        return JSONValue.object(members + more).compactText
    }

    private static func failureFields(_ error: SignalingError) -> JSONValue {
        .object([
            JSONMember("result", "failed"), JSONMember("reason", error.reason.rawValue),
            JSONMember("code", error.code.rawValue),
            JSONMember("message", error.message),
            JSONMember("data", .object([JSONMember("result", error.reason.rawValue)])),
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
