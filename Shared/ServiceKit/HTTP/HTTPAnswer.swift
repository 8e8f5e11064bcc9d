package import NIOHTTP1

/// A complete response to an HTTP request.
package struct HTTPAnswer: Equatable, Sendable {
    /// The status.
    package var status: HTTPResponseStatus
    /// The `Content-Type`.
    package var contentType: String
    /// The body; not sent in the answer to a HEAD request.
    package var body: [UInt8]
    /// Further headers, sent before `Content-Type`, `Content-Length` and `Connection`, which
    /// ``HTTPResponderHandler`` adds.
    package var headers: HTTPHeaders

    package init(
        status: HTTPResponseStatus = .ok, contentType: String, body: [UInt8], headers: HTTPHeaders = [:]
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// Creates an answer with a JSON body.
    package static func json(
        status: HTTPResponseStatus = .ok, _ text: String, headers: HTTPHeaders = [:]
    ) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "application/json", body: Array(text.utf8), headers: headers)
    }
}
