internal import CRe
internal import Glibc
internal import SIPBridgeLogic

/// What comes of a request.
enum SIPResponseEvent {
    /// A 1xx.
    case provisional(SIPMessage)
    /// A final response; the last event. Others than 2xx to INVITE have been acknowledged already.
    case final(SIPMessage)
    /// Nothing came, or it could not be sent; the last event. An errno value, such as ETIMEDOUT.
    case failed(Int32)
}

/// A request of ours, with its transaction. It lives until its last event, also when nobody keeps it.
@SIPThread
final class SIPClientRequest {
    /// The method.
    let method: String
    /// The number in its CSeq.
    let sequence: UInt32

    private var libre: OpaquePointer?
    private var completion: ((SIPResponseEvent) -> Void)?

    /// Sends it.
    /// - Parameter send: hands it to libre, with what libre calls back and the context for that.
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
                Unmanaged<SIPClientRequest>.fromOpaque(context!).takeUnretainedValue().came(error, message)
            }, context.toOpaque())
        if status != 0 {
            self.completion = nil
            context.release()
            throw SIPError(code: status, act: "send \(method)")
        }
    }

    typealias Handler = @convention(c) (UnsafeMutableRawPointer?, Int32, OpaquePointer?) -> Void

    /// Cancels an INVITE: at once if a provisional response came, else with the first one (RFC 3261 section 9.1). The events go
    /// on: 487, or a 200 that crossed the CANCEL.
    func cancel() {
        if let libre { cre_client_request_cancel(libre) }
    }

    private func came(_ error: Int32, _ message: OpaquePointer?) {
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
