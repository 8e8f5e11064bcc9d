package import SignalingProtocol
package import SignalingWire

/// The lists of members that a shard has written last, one for each channel.
///
/// The next one to join a channel that fills gets nearly the same list.
package struct MemberLists: Sendable {
    /// The most bytes of lists that are kept; past it all others are forgotten.
    ///
    /// A list of short accounts has some 15 KiB, the longest possible one 150.
    package static let boundBytes = 1 << 20
    /// Texts of fewer bytes are written anew: there are many such channels, and little to gain.
    package static let leastBytes = 1024

    private var lists: [ChannelKey: MemberListText] = [:]
    /// How many bytes of lists are kept.
    package private(set) var bytes = 0

    package init() {}

    /// The list of a channel's latest members.
    package mutating func list(_ members: LatestMembers, in channel: ChannelKey) -> MemberListText {
        guard members.text.count >= Self.leastBytes else { return MemberListText(members) }
        let former = lists[channel]
        let list = MemberListText(members, after: former)
        bytes += list.size - (former?.size ?? 0)
        if bytes > Self.boundBytes {
            lists.removeAll(keepingCapacity: true)
            bytes = list.size
        }
        lists[channel] = list
        return list
    }
}
