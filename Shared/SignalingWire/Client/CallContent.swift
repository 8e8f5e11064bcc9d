package import SignalingProtocol

/// The content of a mailbox entry about a call. Clients need all four keys. Source:
/// `Docs/protocol.md`, "Events of calls".
package struct CallContent: Equatable, Sendable {
    /// The channel that the call is about.
    package var channel: ChannelName
    /// The other party, as the receiver sees it: an account, or a phone number.
    package var peer: String
    /// The other party's JSON text, or the system's own.
    package var extra: String
    /// The other party's numeric id; 0 when it is not a user.
    package var peerUID: UInt32

    /// Makes the content.
    package init(channel: ChannelName, peer: String, extra: String, peerUID: UInt32) {
        self.channel = channel
        self.peer = peer
        self.extra = extra
        self.peerUID = peerUID
    }

    /// The JSON text.
    package var text: String {
        JSONValue.object([
            JSONMember("channel", channel.rawValue), JSONMember("peer", peer),
            JSONMember("extra", extra), JSONMember("peeruid", peerUID),
        ]).compactText
    }
}
