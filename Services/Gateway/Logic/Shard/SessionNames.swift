package import SignalingProtocol

/// Names the sessions of one shard: random letters and digits that are the shard's alone, and a count.
///
/// Swift keeps a text of up to 15 bytes in place. A session's name is in its connection, in the table of sessions and
/// in most of what is sent and received for it, each time without memory of its own.
package struct SessionNames: Sendable {
    /// So many that, of all shards that ever start, no two are likely to have the same.
    private static let prefixLength = 8

    private let prefix = SecureRandom.alphanumeric(count: prefixLength)
    private var made = 0

    /// The names of a shard that has just started.
    package init() {}

    /// The name of a new session: 9 to 15 bytes, as long as the shard has named fewer than 36⁷ (78,364,164,096).
    package mutating func next() -> SessionID {
        made += 1
        return SessionID(prefix + String(made, radix: 36))
    }
}
