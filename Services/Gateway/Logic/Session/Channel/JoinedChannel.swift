package import BusProtocol
package import SignalingWire

/// What a session gets with a join.
package struct JoinedChannel: Equatable, Sendable {
    /// The join's position among the channel's events.
    let position: ChannelPosition
    /// The content of the answer to the client.
    let answer: ReplyBody

    /// - Parameters:
    ///   - reply: that of channel-state.
    ///   - members: its members as the answer lists them.
    package init(_ reply: ChannelJoined, members: MemberListText) {
        position = ChannelPosition(sequence: reply.sequence, id: reply.id)
        answer = .joined(id: reply.id, members: members, attributes: reply.attributes)
    }
}
