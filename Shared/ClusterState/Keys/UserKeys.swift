package import SignalingProtocol

/// The keys of one user. Presence writes them; the head of `sessions.lua` says what each holds.
package struct UserKeys: Sendable {
    /// The common start of the names; the one key that functions are given.
    package let tag: String

    /// The keys of `user`.
    package init(_ user: UserKey) { tag = KeySpace.tag(user) }

    /// Hash: the present session. No key without one.
    package var session: String { tag + ":session" }
    /// Hash: the numbers that must not fall while the user comes and goes, and who receives the user's mail.
    package var box: String { tag + ":box" }
    /// Hash: the cached attributes; holds while ``attributesVersion`` exists.
    package var attributes: String { tag + ":attrs" }
    /// String: PostgreSQL's version of the cached attributes. No key while nothing is cached.
    package var attributesVersion: String { tag + ":attrver" }

    /// Hash: attributes that are written in several steps, before they become ``attributes`` in one.
    package func stagedAttributes(_ staging: String) -> String { "\(tag):attrs:\(staging)" }
}
