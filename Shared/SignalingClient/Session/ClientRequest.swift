internal import SignalingWire

/// The frames that a client sends, as text. Source: `Docs/protocol.md`, "Frames of clients" and "Calls".
enum ClientRequest {
    static func login(_ configuration: ClientConfiguration) -> [UInt8] {
        frame(
            "login",
            .object([
                JSONMember("vid", configuration.app), JSONMember("account", configuration.account),
                JSONMember("uid", configuration.uid),
                JSONMember("token", configuration.token),
                JSONMember("device", configuration.device), JSONMember("ip", ""),
                JSONMember("push", 1),
            ]))
    }

    /// - Parameters:
    ///   - channel: the channel that the client is in; nil for none.
    ///   - after: the id of the last event of this channel that the client has received; nil for none.
    static func resume(line: String, channel: String?, after: Int64?) -> [UInt8] {
        var members = [JSONMember("line", line)]
        if let channel { members.append(JSONMember("channel", channel)) }
        if let after { members.append(JSONMember("after", after)) }
        return frame("line_login", .object(members))
    }

    static func ping(_ number: Int64) -> [UInt8] { frame("ping", .number(String(number))) }

    static func call(_ function: String, id: Int64, line: String, _ arguments: [JSONMember]) -> [UInt8] {
        frame(
            "call2",
            .array([
                .string(function), .number(String(id)), .object([JSONMember("line", line)] + arguments),
            ]))
    }

    /// Acknowledges mailbox entries up to this version, and requests at most 30 more.
    static func acknowledge(id: Int64, line: String, through version: Int64) -> [UInt8] {
        call(
            "user_getmsg", id: id, line: line,
            [JSONMember("ver_clear", version), JSONMember("max", 30)])
    }

    private static func frame(_ name: String, _ argument: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        JSONValue.array([.string(name), argument]).append(to: &bytes)
        return bytes
    }
}
