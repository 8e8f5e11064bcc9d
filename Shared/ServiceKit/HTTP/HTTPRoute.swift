/// A route that a service adds to the health listener, such as discovery.
package struct HTTPRoute: Sendable {
    /// The complete path, such as `/getaddr`.
    package let path: String
    let answer: @Sendable () async -> HTTPAnswer

    /// Creates a route for GET and HEAD.
    package init(_ path: String, _ answer: @escaping @Sendable () async -> HTTPAnswer) {
        self.path = path
        self.answer = answer
    }
}
