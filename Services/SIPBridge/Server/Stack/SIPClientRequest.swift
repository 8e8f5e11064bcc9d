internal import CRe
internal import Glibc
internal import SIPBridgeLogic

/// An event of a request that we have sent.
enum SIPResponseEvent {
    /// A provisional response (1xx).
    case provisional(SIPMessage)
    /// A final response; the last event. libre has sent the ACK, except for a 2xx to INVITE.
    case final(SIPMessage)
    /// There was no response; an errno value, such as ETIMEDOUT. The last event.
    case failed(Int32)
}

/// A request that we have sent, and its transaction. It keeps itself alive until its last event.
@SIPThread
final class SIPClientRequest {
    /// The request's method.
    let method: String
    /// The request's CSeq number.
    let sequence: UInt32

    private var libre: OpaquePointer?
    private var completion: ((SIPResponseEvent) -> Void)?

    /// Sends the request.
    /// - Parameter send: passes the request to libre, with the given callback and its context.
    init(
        method: String, sequence: UInt32, completion: @escaping (SIPResponseEvent) -> Void,
        send: (UnsafeMutablePointer<OpaquePointer?>, @escaping Handler, UnsafeMutableRawPointer) -> Int32
    ) throws(SIPError) {
        self.method = method
        self.sequence = sequence
        self.completion = completion
        let context = Unmanaged.passRetained(self)
        let status = send(
            &libre,
            { context, error, message in
                Unmanaged<SIPClientRequest>.fromOpaque(context!).takeUnretainedValue().received(error, message)
            }, context.toOpaque())
        if status != 0 {
            self.completion = nil
            context.release()
            throw SIPError(code: status, act: "send \(method)")
        }
    }

    typealias Handler = @convention(c) (UnsafeMutableRawPointer?, Int32, OpaquePointer?) -> Void

    /// Cancels an INVITE: at once if a provisional response has arrived, else after the first one (RFC 3261, 9.1). A
    /// final response follows: 487, or a 200 that was sent before the CANCEL arrived.
    func cancel() {
        if let libre { cre_client_request_cancel(libre) }
    }

    private func received(_ error: Int32, _ message: OpaquePointer?) {
        if let message {
            let copy = SIPMessage(message)
            if let status = copy.status, status < 200 {
                completion?(.provisional(copy))
                return
            }
            finish(.final(copy))
        } else {
            finish(.failed(error))
        }
    }

    private func finish(_ event: SIPResponseEvent) {
        guard let completion else { return }
        self.completion = nil
        cre_client_request_free(libre)
        libre = nil
        completion(event)
        Unmanaged.passUnretained(self).release()
    }
}
