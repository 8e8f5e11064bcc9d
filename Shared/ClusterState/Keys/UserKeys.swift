package import SignalingProtocol

/// The keys of one user, written mainly by presence; the head of `presence.lua` describes their values.
package struct UserKeys: Sendable {
    /// The common prefix of the keys; the only key that is passed to functions.
    package let tag: String

    package init(_ user: UserKey) { tag = KeySpace.tag(user) }

    /// The same, without finding out the bucket.
    /// - Parameter bucket: the user's, see ``Buckets/bucket(of:)``.
    package init(_ user: UserKey, inBucket bucket: Int) { tag = KeySpace.tag(user, inBucket: bucket) }

    /// Hash: the current session. Absent when there is none.
    package var session: String { tag + ":session" }
    /// Hash: counters that must not decrease when the user goes offline and returns, and the session that receives the
    /// user's mail.
    package var box: String { tag + Self.boxSuffix }
    /// Hash: the cached attributes; valid only while ``attributesVersion`` exists.
    package var attributes: String { tag + ":attrs" }
    /// String: the version in PostgreSQL of the cached attributes. Absent when nothing is cached.
    package var attributesVersion: String { tag + ":attrver" }

    /// Hash: attributes that are written in several steps and then replace ``attributes`` in one.
    package func stagedAttributes(_ staging: String) -> String { "\(tag):attrs:\(staging)" }

    /// The end of the name of ``box``.
    package static let boxSuffix = ":box"

    /// The end of the name of a user's mailbox, a stream; the head of `mailbox.lua` describes it.
    package static let mailboxSuffix = ":mbox"

    /// A pattern for SCAN that matches the mailboxes of all users.
    package static let mailboxPattern = "{*}a:*:u:*" + mailboxSuffix

    /// The app and the account of the user whose mailbox this is, as text; nil for other keys.
    package static func user(ofMailbox key: String) -> (app: String, account: String)? {
        guard key.hasPrefix("{"), key.hasSuffix(mailboxSuffix), let end = key.firstIndex(of: "}") else { return nil }
        let parts = key[key.index(after: end)...].dropLast(mailboxSuffix.count).split(separator: ":")
        guard parts.count == 4, parts[0] == "a", parts[2] == "u", let app = PercentEscape.unescape(String(parts[1])),
            let account = PercentEscape.unescape(String(parts[3]))
        else { return nil }
        return (app, account)
    }
}
