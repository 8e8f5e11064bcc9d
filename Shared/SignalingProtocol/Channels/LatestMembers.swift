/// A channel's latest members as stored in Redis: a text with one line `UID ACCOUNT` per member, oldest first.
/// (Accounts contain no white space.)
///
/// The text passes unparsed from Redis to the gateway, which writes it into the answer to a join: parsing and
/// formatting two hundred members in every process on the way of every join would cost too much.
package struct LatestMembers: Equatable, Sendable {
    /// The lines, each ended by a newline. There may be more of them than ``all`` returns.
    package let text: [UInt8]

    /// Uses a text that Redis stores.
    package init(text: [UInt8]) { self.text = text }

    /// Creates the text from members.
    /// - Parameter members: newest first.
    package init(_ members: [Member]) {
        text = Array(members.reversed().map { "\($0.uid) \($0.account)\n" }.joined().utf8)
    }

    /// The members, newest first, at most ``Limits/userListLatest``. Malformed lines are skipped.
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

    /// Calls `body` for each member that ``all`` would return, newest first, with the digits of its numeric id and the
    /// bytes of its account.
    /// - Parameter beginning: where a line begins in the text; members of lines before it are left out.
    package func forEach(
        from beginning: Int = 0,
        _ body: (_ uid: UnsafeBufferPointer<UInt8>, _ account: UnsafeBufferPointer<UInt8>) -> Void
    ) {
        text.withUnsafeBufferPointer { bytes in
            var end = bytes.count - 1
            var listed = 0
            while end > beginning, listed < Limits.userListLatest {
                // `end` is the index of the line's newline.
                var start = end
                while start > beginning, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
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

/// A member of a channel, as in member lists.
package struct Member: Hashable, Sendable {
    /// The member's account.
    package var account: Account
    /// The account's numeric id.
    package var uid: UInt32

    package init(account: Account, uid: UInt32) {
        self.account = account
        self.uid = uid
    }
}
