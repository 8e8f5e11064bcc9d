package import SignalingProtocol

/// The text of a mailbox entry: `msg-v2 SRC DST FLAG TYPE TIME CONTENT`, the content being everything after the sixth
/// space. Source: wire protocol, section 5.
package enum MessageLine {
    /// An instant message.
    /// - Parameters:
    ///   - seconds: how long the entry waits for its receiver.
    ///   - time: Unix seconds.
    package static func instant(from: Account, to: Account, ttl seconds: Int, time: Int64, content: String) -> String {
        line(type: "instant", from: from.rawValue, to: to, ttl: seconds, time: time, content: content)
    }

    /// Something that happened in a call.
    /// - Parameters:
    ///   - type: `voip_invite` and its like.
    ///   - from: the other party; a phone number may stand here too.
    ///   - seconds: how long the entry waits for its receiver.
    ///   - time: Unix seconds.
    package static func call(
        type: String, from: String, to: Account, ttl seconds: Int, time: Int64, content: CallContent
    ) -> String {
        line(type: type, from: from, to: to, ttl: seconds, time: time, content: content.text)
    }

    /// Appends part by part, because string interpolation takes twice as long.
    private static func line(
        type: String, from: String, to: Account, ttl seconds: Int, time: Int64, content: String
    ) -> String {
        var line = "msg-v2 "
        line.reserveCapacity(from.utf8.count + to.rawValue.utf8.count + type.utf8.count + content.utf8.count + 64)
        line.append(from)
        line.append(" ")
        line.append(to.rawValue)
        line.append(" v1:E:")
        line.append(String(seconds))
        line.append(" ")
        line.append(type)
        line.append(" ")
        line.append(String(time))
        line.append(" ")
        line.append(content)
        return line
    }

    /// What a party did in a call.
    package static func call(
        _ verb: CallVerb, from: Account, to: Account, ttl seconds: Int, time: Int64, content: CallContent
    ) -> String {
        call(type: verb.rawValue, from: from.rawValue, to: to, ttl: seconds, time: time, content: content)
    }
}
