/// What a command or a timer is about. Where Redis has several masters, it is kept and handled
/// beside the data of its subject.
package enum Subject: Hashable, Sendable {
    /// A user.
    case user(UserKey)
    /// A channel.
    case channel(ChannelKey)
    /// An app.
    case app(AppID)
    /// A gateway's lease.
    case gateway(GatewayID)
    /// A sip-bridge.
    case bridge(BridgeID)
    /// A media node.
    case mediaNode(MediaNodeID)
    /// What is kept under a hash tag, such as a call.
    case tagged(String)
}
