internal import SignalingWire

/// What a trace says of a frame that is sent to a client.
package enum TracedFrame {
    /// Without lines, texts and values; nil for the answer to a ping.
    package static func summary(_ frame: [UInt8]) -> String? {
        guard let value = try? JSONValue.parse(frame), case .array(let parts) = value, let name = parts.first?.string
        else { return "a frame that cannot be read, \(frame.count) bytes" }
        let arguments = if parts.count > 1, case .array(let list) = parts[1] { list } else { Array(parts.dropFirst()) }
        return switch name {
        case "pong": nil
        case "call2-ret": "answer to \(text(arguments, 0)): " + outcome(arguments, error: 1)
        case "login_ret": "login: " + outcome(arguments, error: 0)
        case "line_login_ret": "resume: " + outcome(arguments, error: 0)
        case "close": "close: \(text(arguments, 0))"
        case "notify": "told of \(notification(arguments)), \(frame.count) bytes"
        default: "\(name), \(frame.count) bytes"
        }
    }

    /// `ok`, or the code and the reason of the error.
    private static func outcome(_ arguments: [JSONValue], error: Int) -> String {
        let body = (try? JSONValue.parse(text(arguments, error + 1).utf8)) ?? .null
        guard body["result"]?.string != "ok" else { return "ok" }
        let code = body["code"]?.integer.map { "\($0) " } ?? ""
        let message = body["message"]?.string.map { ": \($0)" } ?? ""
        return "failed with \(code)\(text(arguments, error))\(message)"
    }

    private static func notification(_ arguments: [JSONValue]) -> String {
        switch text(arguments, 0) {
        case "msg": "message \(text(arguments, 1))"
        case "recvmsg": "a message, with its text"
        case "channel2": "an event of the channel"
        case let other: other
        }
    }

    private static func text(_ arguments: [JSONValue], _ index: Int) -> String {
        index < arguments.count ? arguments[index].textOrCompact : ""
    }
}
