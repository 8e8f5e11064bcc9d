internal import SIPBridgeLogic

/// The message that an event of a dialog is about. The event's actions are performed with it.
@SIPThread
enum DialogMessage {
    /// A request of the peer.
    case request(SIPServerRequest)
    /// A response to a request of ours.
    case response(SIPMessage)

    /// The message, in either direction.
    var content: SIPMessage {
        switch self {
        case .request(let request): request.message
        case .response(let response): response
        }
    }
}
