/// What the health listener answers.
public struct HTTPAnswer: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The `Content-Type`.
    public var contentType: String
    /// The body.
    public var body: [UInt8]
    /// Further headers; length and type are set from the above.
    public var headers: [Header]

    /// A header of an answer.
    public struct Header: Equatable, Sendable {
        /// The header's name.
        public var name: String
        /// Its value.
        public var value: String

        /// Creates a header.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates an answer.
    public init(status: Int = 200, contentType: String, body: [UInt8], headers: [Header] = []) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// An answer of JSON text.
    public static func json(status: Int = 200, _ text: String, headers: [Header] = []) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "application/json", body: Array(text.utf8), headers: headers)
    }

    /// An answer of plain text.
    public static func text(status: Int = 200, _ text: String, headers: [Header] = []) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8), headers: headers)
    }
}
