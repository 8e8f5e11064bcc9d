internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
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

    /// Opens the RTP ports of a call through a trunk.
    @SIPThread
    func makeMedia(for trunk: SIPTrunk) throws(MediaError) -> MediaSession {
        let security: MediaSecurity =
            switch trunk.srtp {
            case .off: .off
            case .optional: .optional
            case .required: .required
            }
        return try MediaSession(
            configuration: media, clock: clock, security: security, offersEvents: trunk.dtmf != .info)
    }

    /// Begins to trace the call of a message that has just arrived.
    @SIPThread
    func startTrace(with message: SIPMessage) {
        stack.traced.insert(message.callID)
        guard !stack.tracesAll else { return }
        let here = SIPEndpoint(host: stack.contactHost, port: stack.port, transport: message.source.transport)
        stack.onTrace?(
            SIPTraceRecord(
                isSent: false, source: message.source, destination: here, callID: message.callID,
                text: String(decoding: message.bytes, as: UTF8.self)))
    }
}
