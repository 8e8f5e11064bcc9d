/// The URI of a request line, taken apart.
package struct SIPURI: Equatable, Sendable {
    /// As it stands in the message.
    package var text: String
    /// In lower case.
    package var scheme: String
    /// The user part, still escaped; empty when there is none.
    package var user: String
    /// The host; an IPv6 address without brackets.
    package var host: String

    /// Names a URI.
    package init(text: String, scheme: String, user: String, host: String) {
        self.text = text
        self.scheme = scheme
        self.user = user
        self.host = host
    }
}

/// A From or To header, taken apart.
package struct SIPParty: Equatable, Sendable {
    /// The display name, without quotes; empty when there is none.
    package var displayName = ""
    /// The URI.
    package var uri: String
    /// Its user part, still escaped; empty when there is none.
    package var user = ""
    /// Its host.
    package var host = ""
    /// Its port, if named.
    package var port: Int?
    /// The tag; nil when there is none.
    package var tag: String?

    /// Names a party by its URI; the URI's parts are set one by one.
    package init(uri: String, tag: String? = nil) {
        self.uri = uri
        self.tag = tag
    }
}

/// A request or response that arrived, copied out of libre.
package struct SIPMessage: Sendable, Equatable {
    /// What the first line says.
    package enum Start: Equatable, Sendable {
        /// A request to a URI.
        case request(SIPURI)
        /// A response with its reason phrase.
        case response(status: Int, reason: String)
    }

    /// What the first line says, but for the method.
    package var start: Start
    /// A request's method; of a response, the method that it answers.
    package var method: String
    /// The caller's end of the request that this is or answers.
    package var from: SIPParty
    /// The other end.
    package var to: SIPParty
    /// The Call-ID.
    package var callID = ""
    /// The number in CSeq.
    package var sequence: UInt32 = 0
    /// The method in CSeq.
    package var sequenceMethod: String
    /// The URI of the first Contact; nil when there is none that can be read.
    package var contactURI: String?
    /// The header fields in their order. Several values on one line stay so, but for Via and Route.
    package var headers: [SIPHeaderField] = []
    /// The body, no longer than Content-Length says.
    package var body: [UInt8] = []
    /// How many bytes came after the header fields, whatever Content-Length says.
    package var receivedBodyBytes = 0
    /// Where it came from.
    package var source: SIPEndpoint
    /// The message as it came.
    package var bytes: [UInt8] = []

    /// Makes a message of its mandatory parts; the others are set one by one.
    package init(start: Start, method: String, from: SIPParty, to: SIPParty, source: SIPEndpoint) {
        self.start = start
        self.method = method
        self.from = from
        self.to = to
        self.source = source
        sequenceMethod = method
    }
}

extension SIPMessage {
    /// Whether it is a request.
    package var isRequest: Bool { requestURI != nil }
    /// The request's URI; nil for a response.
    package var requestURI: SIPURI? {
        switch start {
        case .request(let uri): uri
        case .response: nil
        }
    }
    /// The response's status; nil for a request.
    package var status: Int? {
        switch start {
        case .request: nil
        case .response(let status, _): status
        }
    }
    /// The response's reason phrase; empty for a request.
    package var reason: String {
        switch start {
        case .request: ""
        case .response(_, let reason): reason
        }
    }
    /// The first field of a name, whatever its case, compact or written out.
    package func header(_ name: String) -> String? {
        let wanted = SIPHeaderField.canonical(name)
        return headers.first { $0.canonicalName == wanted }?.value
    }
    /// The fields of a name.
    package func headers(_ name: String) -> [String] {
        let wanted = SIPHeaderField.canonical(name)
        return headers.filter { $0.canonicalName == wanted }.map(\.value)
    }
    /// The elements of fields that hold lists of tokens, such as Allow, Require and Supported.
    package func tokens(_ name: String) -> [String] {
        headers(name).flatMap { $0.split(separator: ",") }.map(SIPText.trimmed).filter { !$0.isEmpty }
    }
    /// The media type of the body in lower case, without parameters, such as `application/sdp`.
    package var contentType: String? {
        header("Content-Type").map { SIPText.trimmed($0.prefix { $0 != ";" }).lowercased() }
    }
}

/// Parses small pieces of header fields.
enum SIPText {
    static func trimmed(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// A decimal number of digits only; nil when it is none, or above the limit.
    static func number(_ text: some StringProtocol, upTo limit: UInt64) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        guard let value = UInt64(String(text)), value <= limit else { return nil }
        return value
    }
}
