package import NIOHTTP1

/// Decides on the answer to a request; ``HTTPResponderHandler`` reads requests and writes answers.
package protocol HTTPResponder: Sendable {
    /// Answers one request; the request's body is ignored.
    func answer(_ request: HTTPRequestHead) async -> HTTPAnswer
}
