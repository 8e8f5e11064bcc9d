internal import CRe
internal import Glibc
internal import SIPBridgeLogic
internal import SignalingProtocol

/// A SIP dialog: its parties, route set, target and CSeq numbers. One that we start is established by a response.
@SIPThread
final class SIPDialog {
    /// The Call-ID.
    let callID: String

    /// The remote target: the request URI of our requests.
    private(set) var target: String

    private let stack: SIPStack
    private let contact: SIPHeaderField
    /// The dialog before any response, from which the dialog of each fork is made; nil when the peer has called.
    private let origin: SharedDialog?
    private var peer: SharedDialog?
    private var peerTag: String?

    /// Owns one of libre's dialogs, which the forks of one INVITE may share.
    @SIPThread
    private final class SharedDialog {
        let libre: OpaquePointer

        init(_ libre: OpaquePointer) { self.libre = libre }

        isolated deinit { cre_dialog_free(libre) }
    }

    /// The addresses of a dialog that we start.
    struct Addresses {
        /// The request URI.
        var target: String
        /// The To URI.
        var to: String
        /// The From URI.
        var from: String
        /// The name in From.
        var displayName: String?
        /// URIs of proxies to route through, without `lr`.
        var routes: [String] = []
    }

    /// Creates a dialog in which we are the caller.
    init(stack: SIPStack, _ addresses: Addresses) throws(SIPError) {
        var made: OpaquePointer?
        let copies = addresses.routes.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let pointers = copies.map { UnsafePointer($0) }
        try SIPError.check(
            cre_dialog_make(
                &made, addresses.target, addresses.to, addresses.displayName.map(SIPEncoding.quoted), addresses.from,
                pointers, UInt32(pointers.count)),
            "make a dialog")
        self.stack = stack
        target = addresses.target
        origin = SharedDialog(made!)
        callID = String(cString: cre_dialog_call_id(made))
        let nextHop = addresses.routes.first ?? addresses.target
        contact = stack.contact(user: Self.user(of: addresses.from), transport: Self.transport(of: nextHop))
    }

    /// Creates a dialog that a peer has started.
    init(established: OpaquePointer, stack: SIPStack, contact: SIPHeaderField, target: String) {
        self.stack = stack
        self.target = target
        self.contact = contact
        origin = nil
        peer = SharedDialog(established)
        callID = String(cString: cre_dialog_call_id(established))
    }

    private init(fork: SharedDialog, of dialog: SIPDialog, response: SIPMessage) {
        (stack, contact, origin, callID) = (dialog.stack, dialog.contact, dialog.origin, dialog.callID)
        peer = fork
        peerTag = response.to.tag
        target = response.contactURI ?? dialog.target
    }

    /// Whether the dialog is established: the peer's tag is known (RFC 3261, 12.1).
    var isEstablished: Bool { peer != nil }

    /// The CSeq number of the next request other than ACK.
    var nextSequence: UInt32 { cre_dialog_next_sequence(current) }

    /// Sends a request. Our Contact is added where it sets the target (INVITE, UPDATE), unless it is among the headers.
    @discardableResult
    func request(
        _ method: String, headers: [SIPHeaderField] = [], body: SIPBody? = nil,
        completion: @escaping (SIPResponseEvent) -> Void
    ) throws(SIPError) -> SIPClientRequest {
        let rest = try rest(method, headers, body)
        let (libre, dialog) = (try stack.pointer(), current)
        return try SIPClientRequest(
            method: method, sequence: nextSequence, completion: completion,
            send: { result, handler, context in
                rest.withSpan { cre_dialog_request(result, libre, dialog, method, $0, handler, context) }
            })
    }

    /// Sends the ACK for a 2xx to INVITE, and again for each repetition. The 2xx must have established the dialog.
    func acknowledge(
        _ response: SIPMessage, headers: [SIPHeaderField] = [], body: SIPBody? = nil
    ) throws(SIPError) {
        let rest = try rest("ACK", headers, body)
        let libre = try stack.pointer()
        try SIPError.check(
            rest.withSpan { cre_dialog_acknowledge(libre, current, response.sequence, $0) }, "send ACK")
    }

    /// Establishes the dialog by a response, from which it takes tag, route set and target. If the dialog has the same
    /// tag already, only the target changes. Throws EBADMSG without a usable Contact.
    func establish(with response: SIPMessage) throws(SIPError) {
        if peer != nil, peerTag == nil || peerTag == response.to.tag {
            try update(target: response)
            return
        }
        peer = try forked(response)
        peerTag = response.to.tag
        target = response.contactURI ?? target
    }

    /// Creates the dialog of another fork that answered the same INVITE.
    func fork(for response: SIPMessage) throws(SIPError) -> SIPDialog {
        return SIPDialog(fork: try forked(response), of: self, response: response)
    }

    /// Sets the target to the Contact of a request that refreshes it, or of a response to one. A message without a
    /// Contact changes nothing.
    func update(target message: SIPMessage) throws(SIPError) {
        guard let uri = message.contactURI else { return }
        let dialog = current
        try SIPError.check(try decoded(message) { cre_dialog_update(dialog, $0) }, "read the Contact")
        target = uri
    }

    /// Whether a message belongs to this dialog, judged by Call-ID and both tags.
    func matches(_ message: SIPMessage) -> Bool {
        guard message.callID == callID else { return false }
        let dialog = current
        return (try? decoded(message) { cre_dialog_matches(dialog, $0) }) ?? false
    }

    /// Records a request's CSeq number. Returns false when it is lower than that of an earlier request; the response is
    /// then 500 (RFC 3261, 12.2.2).
    func acceptsSequence(of message: SIPMessage) -> Bool {
        let dialog = current
        return (try? decoded(message) { cre_dialog_accepts_sequence(dialog, $0) }) ?? false
    }

    private var current: OpaquePointer {
        // A dialog that we start has an origin; one that a peer starts has `peer` from the start.
        (peer ?? origin)!.libre
    }

    private func forked(_ response: SIPMessage) throws(SIPError) -> SharedDialog {
        guard let origin else { throw SIPError(code: EINVAL, act: "fork a dialog that the peer set up") }
        var made: OpaquePointer?
        try SIPError.check(try decoded(response) { cre_dialog_fork(&made, origin.libre, $0) }, "establish a dialog")
        return SharedDialog(made!)
    }

    /// Lets libre parse a copied message again and passes the result to `act`: a ``SIPMessage`` contains no pointer of
    /// libre's.
    private func decoded<Value>(_ message: SIPMessage, _ act: (OpaquePointer) -> Value) throws(SIPError) -> Value {
        guard let libre = message.bytes.withSpan({ cre_message_decode($0.bytes, $0.count) }) else {
            throw SIPError(code: EBADMSG, act: "read a message again")
        }
        defer { cre_message_free(libre) }
        return act(libre)
    }

    private func rest(_ method: String, _ headers: [SIPHeaderField], _ body: SIPBody?) throws(SIPError) -> [UInt8] {
        var fields = headers
        if ["INVITE", "UPDATE"].contains(method), !headers.contains(where: { $0.canonicalName == "contact" }) {
            fields.insert(contact, at: 0)
        }
        guard let rest = SIPEncoding.rest(headers: fields, body: body) else {
            throw SIPError(code: EINVAL, act: "send \(method): invalid header")
        }
        return rest
    }

    private static func user(of uri: String) -> String {
        guard let colon = uri.firstIndex(of: ":"), let at = uri.firstIndex(of: "@"), colon < at else { return "" }
        return String(uri[uri.index(after: colon)..<at])
    }

    private static func transport(of uri: String) -> SIPTransport {
        for parameter in uri.lowercased().split(separator: ";").dropFirst() where parameter.hasPrefix("transport=") {
            return SIPTransport(rawValue: String(parameter.dropFirst("transport=".count))) ?? .udp
        }
        return .udp
    }
}
