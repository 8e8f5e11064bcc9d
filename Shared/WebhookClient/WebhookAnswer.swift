/// What an app's server has answered.
package struct WebhookAnswer: Equatable, Sendable {
    /// The status of the answer.
    package var status: Int
    /// Its body, or as much of it as is read.
    package var body: [UInt8]
    /// Whether ``body`` is all of it.
    package var isWhole: Bool

    package init(status: Int, body: [UInt8] = [], isWhole: Bool = true) {
        self.status = status
        self.body = body
        self.isWhole = isWhole
    }

    /// Whether the server itself has answered: with 502, 503 or 504 it, or a proxy before it, says that it cannot.
    package var isFromServer: Bool { !(502...504).contains(status) }

    /// Why the status counts as a failure; nil for 200 to 299. Redirections are not followed: they could lead into
    /// networks that the URL may not lead into.
    package var failure: WebhookFailure? {
        switch status {
        case 200..<300: nil
        case 300..<400: WebhookFailure(.redirect, "the receiver answered with \(status), which is not followed")
        default: WebhookFailure(.status, "the receiver answered with \(status)")
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
