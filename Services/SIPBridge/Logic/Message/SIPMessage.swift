/// The parsed URI of a request line.
package struct SIPURI: Equatable, Sendable {
    /// The URI as written in the message.
    package var text: String
    /// The scheme, in lower case.
    package var scheme: String
    /// The user part, still escaped; empty when there is none.
    package var user: String
    /// The host; an IPv6 address without brackets.
    package var host: String

    /// Creates a URI.
    package init(text: String, scheme: String, user: String, host: String) {
        self.text = text
        self.scheme = scheme
        self.user = user
        self.host = host
    }
}

/// A parsed From or To header.
package struct SIPParty: Equatable, Sendable {
    /// The display name, without quotes; empty when there is none.
    package var displayName = ""
    /// The URI.
    package var uri: String
    /// The user part of the URI, still escaped; empty when there is none.
    package var user = ""
    /// The host of the URI.
    package var host = ""
    /// The port of the URI, if given.
    package var port: Int?
    /// The tag; nil when there is none.
    package var tag: String?

    /// Creates a party from its URI; the URI's parts are set separately.
    package init(uri: String, tag: String? = nil) {
        self.uri = uri
        self.tag = tag
    }
}

/// A received request or response, copied from libre.
package struct SIPMessage: Sendable, Equatable {
    /// The content of the first line.
    package enum Start: Equatable, Sendable {
        /// A request to a URI.
        case request(SIPURI)
        /// A response with its reason phrase.
        case response(status: Int, reason: String)
    }

    /// The content of the first line, except the method.
    package var start: Start
    /// The method of a request; for a response, of the request that it answers.
    package var method: String
    /// The caller's side, in both a request and the response to it.
    package var from: SIPParty
    /// The called side.
    package var to: SIPParty
    /// The Call-ID.
    package var callID = ""
    /// The number in CSeq.
    package var sequence: UInt32 = 0
    /// The method in CSeq.
    package var sequenceMethod: String
    /// The URI of the first Contact; nil when there is none, or it cannot be parsed.
    package var contactURI: String?
    /// The header fields, in order. Several values on one line are kept together, except for Via and Route.
    package var headers: [SIPHeaderField] = []
    /// The body, no longer than Content-Length.
    package var body: [UInt8] = []
    /// The number of bytes received after the header fields, whatever Content-Length says.
    package var receivedBodyBytes = 0
    /// The address that the message came from.
    package var source: SIPEndpoint
    /// The message as received.
    package var bytes: [UInt8] = []

    /// Creates a message from its mandatory parts; the others are set separately.
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
    /// The first field with this name, in any case, in its full or compact form.
    package func header(_ name: String) -> String? {
        let wanted = SIPHeaderField.canonical(name)
        return headers.first { $0.canonicalName == wanted }?.value
    }
    /// All fields with this name.
    package func headers(_ name: String) -> [String] {
        let wanted = SIPHeaderField.canonical(name)
        return headers.filter { $0.canonicalName == wanted }.map(\.value)
    }
    /// The elements of all fields with this name, for fields that contain lists of tokens, such as Allow, Require and
    /// Supported.
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

    /// Parses a decimal number that consists only of digits; nil otherwise, or above the limit.
    static func number(_ text: some StringProtocol, upTo limit: UInt64) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        guard let value = UInt64(String(text)), value <= limit else { return nil }
        return value
    }
}
