internal import CRe
internal import SIPBridgeLogic
internal import SignalingProtocol

extension SIPMessage {
    /// Copies a message out of libre.
    init(_ message: OpaquePointer) {
        var view = cre_message_view()
        cre_message_view(message, &view)
        var headers: [SIPHeaderField] = []
        var cursor: UnsafeRawPointer?
        var (name, value) = (cre_span(), cre_span())
        while cre_message_next_header(message, &cursor, &name, &value) {
            headers.append(SIPHeaderField(name.text, value.unfolded))
        }
        let start: Start =
            view.is_request
            ? .request(
                SIPURI(
                    text: view.uri.text, scheme: view.uri_scheme.text.lowercased(), user: view.uri_user.text,
                    host: view.uri_host.text))
            : .response(status: Int(view.status), reason: view.reason.text)
        self.init(
            start: start, method: view.is_request ? view.method.text : view.sequence_method.text,
            from: SIPParty(view.from), to: SIPParty(view.to), source: SIPEndpoint(view.source, view.transport))
        callID = view.call_id.text
        sequence = view.sequence
        sequenceMethod = view.sequence_method.text
        contactURI = view.contact_uri.count == 0 ? nil : view.contact_uri.text
        self.headers = headers
        body = view.body.array
        receivedBodyBytes = body.count
        bytes = view.all.array
        if let length = header("Content-Length").flatMap({ Int($0) }), length >= 0, length < body.count {
            body.removeLast(body.count - length)
        }
    }
}

extension SIPParty {
    init(_ party: cre_party) {
        self.init(uri: party.uri.text, tag: party.tag.count == 0 ? nil : party.tag.text)
        displayName = party.display.text
        user = party.user.text
        host = party.host.text
        port = party.port == 0 ? nil : Int(party.port)
    }
}

extension SIPEndpoint {
    init(_ address: cre_address, _ transport: cre_transport) {
        self.init(host: address.text, port: Int(address.port), transport: SIPTransport(transport))
    }
}

extension SIPTransport {
    init(_ transport: cre_transport) {
        self = transport == CRE_TLS ? .tls : transport == CRE_TCP ? .tcp : .udp
    }

    /// libre's value for this transport.
    var libre: cre_transport {
        switch self {
        case .udp: CRE_UDP
        case .tcp: CRE_TCP
        case .tls: CRE_TLS
        }
    }
}

extension cre_address {
    /// The numeric address.
    var text: String {
        withUnsafeBytes(of: host) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension cre_span {
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }
    var array: [UInt8] { Array(buffer) }
    var text: String { String(decoding: buffer, as: UTF8.self) }

    /// A header's value on one line: each line fold is replaced by a space.
    var unfolded: String {
        guard buffer.contains(where: { $0 == 0x0d || $0 == 0x0a }) else { return text }
        let lines = buffer.split(whereSeparator: { $0 == 0x0d || $0 == 0x0a })
        return lines.map { line in
            let end = line.lastIndex { $0 != 0x20 && $0 != 0x09 }
            return String(
                decoding: line[..<(end.map { $0 + 1 } ?? line.startIndex)].drop { $0 == 0x20 || $0 == 0x09 },
                as: UTF8.self)
        }.joined(separator: " ")
    }
}
