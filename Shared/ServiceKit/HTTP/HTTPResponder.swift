package import NIOHTTP1

/// Decides what a request is answered with; ``HTTPResponderHandler`` does the rest.
package protocol HTTPResponder: Sendable {
    /// Answers one request. Its body, if it has one, is not looked at.
    func answer(_ request: HTTPRequestHead) async -> HTTPAnswer
}
