internal import SignalingTokens

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

    /// The value of the header `Heliograph-Signature`: the time, and the HMAC-SHA256 of the time, a full stop and the body.
    /// - Parameter time: in Unix seconds.
    package static func signature(of body: String, secret: String, time: Int64) -> String {
        "t=\(time),v1=\(ContentDigest.sha256.text(of: "\(time).\(body)", key: secret))"
    }
}

/// What became of a request.
package enum WebhookOutcome: Equatable, Sendable {
    /// The receiver has taken the events.
    case delivered
    /// It has not; the events are sent again.
    case failed(WebhookFailure)

    /// Judges the status of an answer: only 200 to 299 mean that the events were taken. Redirections are not followed: they could
    /// lead into networks that the URL may not lead into.
    package init(status: Int) {
        switch status {
        case 200..<300: self = .delivered
        case 300..<400:
            self = .failed(WebhookFailure(.redirect, "the receiver answered with \(status), which is not followed"))
        default: self = .failed(WebhookFailure(.status, "the receiver answered with \(status)"))
        }
    }
}

/// Why a request has failed.
package struct WebhookFailure: Error, Equatable, Sendable {
    /// The kinds of failures; the raw value is the metric's label.
    package enum Cause: String, Sendable, CaseIterable {
        /// The host's name could not be resolved.
        case name
        /// All addresses of the host are in networks that the app may not use.
        case address
        /// No connection, or TLS failed.
        case connect
        /// No answer in time.
        case timeout
        /// The connection ended without an answer, or the answer was no HTTP.
        case broken
        /// The answer was a redirection.
        case redirect
        /// The answer was another status than 200 to 299.
        case status
    }

    /// The kind of failure.
    package var cause: Cause
    /// One phrase for operators, without secrets.
    package var text: String

    package init(_ cause: Cause, _ text: String) {
        self.cause = cause
        self.text = text
    }
}
