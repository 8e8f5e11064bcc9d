package import SignalingProtocol

/// The keys of one channel. Channel-state writes them; the head of `channels.lua` says what each holds.
package struct ChannelKeys: Sendable {
    /// The common start of the names; the one key that functions are given.
    package let tag: String

    /// The keys of `channel`.
    package init(_ channel: ChannelKey) { tag = KeySpace.tag(channel) }

    /// Zset: accounts by the number of their join. No key for an empty channel.
    package var members: String { tag + ":members" }
    /// Hash: account to `uid sid`, for each member.
    package var memberInfo: String { tag + ":info" }
    /// Hash: the channel's numbers and copies of its built-in attributes.
    package var state: String { tag + ":state" }
    /// Hash: the cached attributes; holds while ``attributesVersion`` exists.
    package var attributes: String { tag + ":attrs" }
    /// String: PostgreSQL's version of the cached attributes. No key while nothing is cached.
    package var attributesVersion: String { tag + ":attrver" }
}
