/// What the health listener answers.
package struct HTTPAnswer: Equatable, Sendable {
    /// The status code.
    package var status: Int
    /// The `Content-Type`.
    package var contentType: String
    /// The body.
    package var body: [UInt8]
    /// Further headers; length and type are set from the above.
    package var headers: [Header]

    /// A header of an answer.
    package struct Header: Equatable, Sendable {
        /// The header's name.
        package var name: String
        /// Its value.
        package var value: String

        /// Creates a header.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates an answer.
    package init(status: Int = 200, contentType: String, body: [UInt8], headers: [Header] = []) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// An answer of JSON text.
    package static func json(status: Int = 200, _ text: String, headers: [Header] = []) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "application/json", body: Array(text.utf8), headers: headers)
    }

    /// An answer of plain text.
    package static func text(status: Int = 200, _ text: String, headers: [Header] = []) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8), headers: headers)
    }
}
