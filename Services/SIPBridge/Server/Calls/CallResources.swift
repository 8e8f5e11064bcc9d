internal import Logging
internal import SignalingProtocol

/// What all calls of a bridge share.
struct CallResources {
    /// The bridge's id, for reports.
    let bridge: BridgeID
    /// The SIP stack of the bridge.
    let stack: SIPStack
    /// The settings of their RTP streams.
    let media: MediaConfiguration
    /// The clock of their RTP streams.
    let clock: MediaClock
    /// The logger from which those of the calls are derived.
    let logger: Logger
}
