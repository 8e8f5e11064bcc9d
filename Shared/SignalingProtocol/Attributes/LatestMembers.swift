/// A channel's latest members, as the text that Redis keeps of them: a line `UID ACCOUNT` each, oldest first. (Accounts
/// hold no white space.)
///
/// The text goes untouched from Redis to the gateway, where it becomes a part of the joiner's answer: two hundred members
/// in each of many joins would be much to take apart and put together at every station.
package struct LatestMembers: Equatable, Sendable {
    /// The lines, each ended by a newline. There may be some more than are listed.
    package let text: [UInt8]

    /// Takes a text that Redis keeps.
    package init(text: [UInt8]) { self.text = text }

    /// Writes the text.
    /// - Parameter members: newest first.
    package init(_ members: [Member]) {
        text = Array(members.reversed().map { "\($0.uid) \($0.account)\n" }.joined().utf8)
    }

    /// Who is listed, newest first; at most ``Limits/userListLatest``. Lines that are none are left out.
    package var all: [Member] {
        var members: [Member] = []
        forEach { uid, account in
            guard let uid = UInt32(String(decoding: uid, as: UTF8.self)),
                let account = try? Account(String(decoding: account, as: UTF8.self))
            else { return }
            members.append(Member(account: account, uid: uid))
        }
        return members
    }

    /// Goes through those who are listed, newest first, with the bytes of their number, digits only, and of their account.
    package func forEach(_ body: (_ uid: UnsafeBufferPointer<UInt8>, _ account: UnsafeBufferPointer<UInt8>) -> Void) {
        text.withUnsafeBufferPointer { bytes in
            var end = bytes.count - 1
            var listed = 0
            while end > 0, listed < Limits.userListLatest {
                // `end` is where the line's newline stands.
                var start = end
                while start > 0, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
                var space = start
                while space < end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[space]) { space += 1 }
                if space > start, space < end - 1, bytes[space] == UInt8(ascii: " ") {
                    body(
                        UnsafeBufferPointer(rebasing: bytes[start..<space]),
                        UnsafeBufferPointer(rebasing: bytes[(space + 1)..<end]))
                    listed += 1
                }
                end = start - 1
            }
        }
    }
}
