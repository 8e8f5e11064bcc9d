internal import Logging
internal import SignalingProtocol

/// What all calls of a bridge use.
struct CallResources {
    /// The bridge's id, for reports.
    let bridge: BridgeID
    /// Where their SIP goes out and comes in.
    let stack: SIPStack
    /// The settings of their RTP streams.
    let media: MediaConfiguration
    /// What paces their RTP streams.
    let clock: MediaClock
    /// What their loggers are copied from.
    let logger: Logger
}
