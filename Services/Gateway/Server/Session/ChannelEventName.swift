internal import SignalingProtocol

/// The signaling channel's event; NIO has a type of that name too.
typealias ChannelEvent = SignalingProtocol.ChannelEvent
