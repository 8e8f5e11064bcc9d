/// A path of the health listener that a service adds, such as discovery.
package struct HTTPRoute: Sendable {
    /// The whole path, as in `/getaddr`.
    package let path: String
    let answer: @Sendable () async -> HTTPAnswer

    /// Creates a route for GET and HEAD.
    package init(_ path: String, _ answer: @escaping @Sendable () async -> HTTPAnswer) {
        self.path = path
        self.answer = answer
    }
}
