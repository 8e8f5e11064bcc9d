public import SignalingProtocol

/// The text of a mailbox entry: `msg-v2 SRC DST FLAG TYPE TIME CONTENT`, the content being everything after the sixth
/// space. Source: wire protocol, section 5.
public enum MessageLine {
    /// An instant message.
    /// - Parameters:
    ///   - seconds: how long it waits for the receiver.
    ///   - time: Unix seconds.
    public static func instant(from: Account, to: Account, ttl seconds: Int, time: Int64, content: String) -> String {
        "msg-v2 \(from) \(to) v1:E:\(seconds) instant \(time) \(content)"
    }

    /// Something that happened in a call.
    /// - Parameters:
    ///   - type: `voip_invite` and its like.
    ///   - from: the other party; a phone number may stand here too.
    ///   - seconds: how long it waits for the receiver.
    ///   - time: Unix seconds.
    public static func call(
        type: String, from: String, to: Account, ttl seconds: Int, time: Int64, content: CallContent
    ) -> String {
        "msg-v2 \(from) \(to) v1:E:\(seconds) \(type) \(time) \(content.text)"
    }

    /// What a party did in a call.
    public static func call(
        _ verb: CallVerb, from: Account, to: Account, ttl seconds: Int, time: Int64, content: CallContent
    ) -> String {
        call(type: verb.rawValue, from: from.rawValue, to: to, ttl: seconds, time: time, content: content)
    }
}
