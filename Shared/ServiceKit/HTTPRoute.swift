/// A path of the health listener that a service adds, such as discovery.
public struct HTTPRoute: Sendable {
    /// The whole path, as in `/getaddr`.
    public let path: String
    let answer: @Sendable (HTTPQuery) async -> HTTPAnswer

    /// Creates a route for GET and HEAD.
    public init(_ path: String, _ answer: @escaping @Sendable (HTTPQuery) async -> HTTPAnswer) {
        self.path = path
        self.answer = answer
    }
}
