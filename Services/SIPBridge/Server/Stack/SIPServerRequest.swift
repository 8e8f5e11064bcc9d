internal import CRe
internal import Glibc
internal import SIPBridgeLogic

/// A request from a peer, with its transaction.
///
/// It must be retained until its final response: if it is released before, it gets no response, and its retransmissions
/// arrive as new requests. An ACK has no transaction and cannot be answered.
@SIPThread
final class SIPServerRequest {
    /// The request.
    let message: SIPMessage
    /// Called once if the peer cancels before the final response. libre has answered the CANCEL; this request must
    /// still be answered with 487.
    var onCancel: (() -> Void)? {
        get { context.act }
        set { context.act = newValue }
    }
    /// Whether its final response was sent.
    private(set) var isAnswered = false

    let stack: SIPStack
    private let libre: OpaquePointer
    private let context = CallbackContext()

    /// The context of libre's callbacks. It exists until the request is freed on the SIP thread, which may be after the
    /// last reference to the request is released.
    @SIPThread
    private final class CallbackContext {
        var act: (() -> Void)?
    }

    init(_ libre: OpaquePointer, stack: SIPStack) {
        self.libre = libre
        self.stack = stack
        message = SIPMessage(cre_server_request_message(libre)!)
        cre_server_request_on_cancel(
            libre, { Unmanaged<CallbackContext>.fromOpaque($0!).takeUnretainedValue().act?() },
            Unmanaged.passUnretained(context).toOpaque())
    }

    isolated deinit { cre_server_request_free(libre) }

    /// Sends a response. libre repeats it for retransmissions of the request; a 2xx to INVITE must be repeated with
    /// ``resend(_:)`` until its ACK. Our Contact is added to responses that establish or refresh a dialog.
    /// - Returns: the response's bytes.
    @discardableResult
    func reply(
        _ status: Int, _ reason: String? = nil, headers: [SIPHeaderField] = [], body: SIPBody? = nil
    ) throws(SIPError) -> [UInt8] {
        let isInvite = message.method == "INVITE"
        let namesContact =
            (isInvite && status > 100 && status < 300) || (message.method == "UPDATE" && status / 100 == 2)
        var fields = headers
        if namesContact, !headers.contains(where: { $0.canonicalName == "contact" }) {
            fields.insert(contact, at: 0)
        }
        let phrase = reason ?? SIPReason.phrase(status)
        guard let rest = SIPEncoding.rest(headers: fields, body: body), SIPHeaderField("Reason", phrase).isSendable
        else {
            throw SIPError(code: EINVAL, act: "reply \(status): invalid header")
        }
        var encoded = cre_span()
        let error = rest.withSpan {
            cre_server_request_reply(
                libre, UInt16(status), phrase, isInvite && status > 100 && status < 300, $0, &encoded)
        }
        if status >= 200 { isAnswered = true }
        try SIPError.check(error, "reply \(status)")
        return encoded.array
    }

    /// Answers OPTIONS with the bridge's capabilities.
    func answerOptions() throws(SIPError) { try reply(200, headers: SIPCapabilities.all) }

    /// Sends the bytes of an earlier response again.
    func resend(_ bytes: [UInt8]) throws(SIPError) {
        try SIPError.check(bytes.withSpan { cre_server_request_resend(libre, $0) }, "repeat an answer")
    }

    /// Creates the dialog that an INVITE starts. Its local tag is the tag of all our responses to the INVITE. Throws
    /// EBADMSG when the INVITE has no usable Contact.
    func acceptDialog() throws(SIPError) -> SIPDialog {
        var dialog: OpaquePointer?
        try SIPError.check(cre_dialog_accept(&dialog, libre), "set up a dialog")
        return SIPDialog(
            established: dialog!, stack: stack, contact: contact, target: message.contactURI ?? message.from.uri)
    }

    private var contact: SIPHeaderField {
        stack.contact(user: message.requestURI?.user ?? "", transport: message.source.transport)
    }
}

extension [UInt8] {
    /// Passes the bytes to a C function, without a copy.
    func withSpan<Value>(_ body: (cre_span) -> Value) -> Value {
        withUnsafeBytes { bytes in
            body(cre_span(bytes: bytes.bindMemory(to: CChar.self).baseAddress, count: bytes.count))
        }
    }
}
