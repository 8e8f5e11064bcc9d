/// The content of a request to a receiver.
package enum WebhookRequest {
    /// The body: a JSON object with the app and its events, in order.
    /// - Parameters:
    ///   - app: an id, which needs no escapes but those of quotation marks and backslashes.
    ///   - events: JSON objects.
    package static func body(app: String, events: [String]) -> String {
        let name = app.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "{\"app\":\"\(name)\",\"events\":[\(events.joined(separator: ","))]}"
    }
}
