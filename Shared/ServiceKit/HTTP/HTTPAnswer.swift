package import NIOHTTP1

/// A whole response to an HTTP request.
package struct HTTPAnswer: Equatable, Sendable {
    /// The status.
    package var status: HTTPResponseStatus
    /// The `Content-Type`.
    package var contentType: String
    /// The body; a HEAD request is answered without it.
    package var body: [UInt8]
    /// Further headers, sent before `Content-Type`, `Content-Length` and `Connection`, which ``HTTPResponderHandler`` adds.
    package var headers: HTTPHeaders

    /// Creates an answer.
    package init(
        status: HTTPResponseStatus = .ok, contentType: String, body: [UInt8], headers: HTTPHeaders = [:]
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// An answer of JSON text.
    package static func json(
        status: HTTPResponseStatus = .ok, _ text: String, headers: HTTPHeaders = [:]
    ) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "application/json", body: Array(text.utf8), headers: headers)
    }
}
