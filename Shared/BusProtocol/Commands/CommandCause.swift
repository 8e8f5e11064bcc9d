/// Which request a command is sent for; travels with the command, and ends in log lines and the audit trail.
package struct CommandCause: Equatable, Sendable {
    /// The id of the server API's key with which the request was made.
    package var key: String?
    /// The request's id: the `X-Request-Id` of the server API, 1...128 visible ASCII characters.
    package var request: String?
    /// The request's trace id (W3C Trace Context): 32 lower-case hexadecimal digits.
    package var trace: String?

    package init(key: String? = nil, request: String? = nil, trace: String? = nil) {
        self.key = key
        self.request = request
        self.trace = trace
    }
}
