package import SignalingProtocol

/// The text of a mailbox entry: `msg-v2 SRC DST FLAG TYPE TIME CONTENT`, the content being everything after the sixth
/// space. Source: `Docs/protocol.md`, "Events of a channel".
package enum MessageLine {
    /// The head of a line: the fields before its type and content.
    package struct Header: Sendable {
        /// The sender: an account, or the other party of a call by phone.
        let from: String
        let to: Account
        /// How long the entry waits for its receiver, in seconds.
        let ttl: Int
        /// Unix seconds.
        let time: Int64

        package init(from: String, to: Account, ttl seconds: Int, time: Int64) {
            self.from = from
            self.to = to
            ttl = seconds
            self.time = time
        }
    }

    /// An instant message.
    /// - Parameters:
    ///   - seconds: how long the entry waits for its receiver.
    ///   - time: Unix seconds.
    package static func instant(from: Account, to: Account, ttl seconds: Int, time: Int64, content: String) -> String {
        line(type: "instant", Header(from: from.rawValue, to: to, ttl: seconds, time: time), content)
    }

    /// Something that happened in a call.
    /// - Parameter type: `voip_invite` and its like.
    package static func call(type: String, _ header: Header, _ content: CallContent) -> String {
        line(type: type, header, content.text)
    }

    /// Appends part by part, because string interpolation takes twice as long.
    private static func line(type: String, _ header: Header, _ content: String) -> String {
        var line = "msg-v2 "
        let to = header.to.rawValue
        line.reserveCapacity(header.from.utf8.count + to.utf8.count + type.utf8.count + content.utf8.count + 64)
        line.append(header.from)
        line.append(" ")
        line.append(to)
        line.append(" v1:E:")
        line.append(String(header.ttl))
        line.append(" ")
        line.append(type)
        line.append(" ")
        line.append(String(header.time))
        line.append(" ")
        line.append(content)
        return line
    }

    /// What a line of an instant message says.
    package struct Parts: Equatable, Sendable {
        /// The sender.
        package let from: String
        /// Unix seconds.
        package let time: Int64
        package let content: String

        /// - Returns: nil when the text is no line of an instant message.
        package init?(_ line: String) {
            // Bytes: a content that begins with a combining character makes one character with the space before it.
            let fields = line.utf8.split(separator: UInt8(ascii: " "), maxSplits: 6, omittingEmptySubsequences: false)
            guard fields.count == 7, fields[0].elementsEqual("msg-v2".utf8), fields[4].elementsEqual("instant".utf8),
                let time = Int64(Substring(fields[5]))
            else { return nil }
            from = String(Substring(fields[1]))
            self.time = time
            content = String(Substring(fields[6]))
        }
    }

    /// What a party did in a call.
    package static func call(_ verb: CallVerb, _ header: Header, _ content: CallContent) -> String {
        call(type: verb.rawValue, header, content)
    }
}
