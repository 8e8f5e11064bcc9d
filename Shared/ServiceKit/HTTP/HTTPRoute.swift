/// A route that a service adds to the health listener, such as discovery.
package struct HTTPRoute: Sendable {
    /// The complete path, such as `/getaddr`.
    package let path: String
    /// Answers a request, given its target: path and query.
    let answer: @Sendable (String) async -> HTTPAnswer

    /// Creates a route for GET and HEAD whose answer is the same for every query.
    package init(_ path: String, _ answer: @escaping @Sendable () async -> HTTPAnswer) {
        self.init(path, toTarget: { _ in await answer() })
    }

    /// Creates a route for GET and HEAD that is given the request's target, such as `/getaddr?vid=abc`.
    package init(_ path: String, toTarget answer: @escaping @Sendable (String) async -> HTTPAnswer) {
        self.path = path
        self.answer = answer
    }
}

/// The target of a request line, such as `/getaddr?vid=abc`.
package enum HTTPTarget {
    /// The part before the query, not percent-decoded.
    package static func path(of target: String) -> String { String(target.prefix { $0 != "?" }) }
}
