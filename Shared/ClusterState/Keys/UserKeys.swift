package import SignalingProtocol

/// The keys of one user, written mainly by presence; the head of `presence.lua` describes their values.
package struct UserKeys: Sendable {
    /// The common prefix of the keys; the only key that is passed to functions.
    package let tag: String

    package init(_ user: UserKey) { tag = KeySpace.tag(user) }

    /// Hash: the current session. Absent when there is none.
    package var session: String { tag + ":session" }
    /// Hash: counters that must not decrease when the user goes offline and returns, and the session that receives the
    /// user's mail.
    package var box: String { tag + ":box" }
    /// Hash: the cached attributes; valid only while ``attributesVersion`` exists.
    package var attributes: String { tag + ":attrs" }
    /// String: the version in PostgreSQL of the cached attributes. Absent when nothing is cached.
    package var attributesVersion: String { tag + ":attrver" }

    /// Hash: attributes that are written in several steps and then replace ``attributes`` in one.
    package func stagedAttributes(_ staging: String) -> String { "\(tag):attrs:\(staging)" }
}
