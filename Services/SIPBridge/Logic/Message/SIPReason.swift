/// Reason phrases. Source: RFC 3261 section 21, RFC 4028.
package enum SIPReason {
    /// The usual phrase for a status.
    package static func phrase(_ status: Int) -> String {
        phrases[status] ?? (status < 200 ? "Progress" : status < 300 ? "OK" : "Failure")
    }

    private static let phrases = [
        100: "Trying", 180: "Ringing", 183: "Session Progress", 200: "OK", 400: "Bad Request", 401: "Unauthorized",
        403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
        413: "Request Entity Too Large", 415: "Unsupported Media Type", 416: "Unsupported URI Scheme",
        420: "Bad Extension", 422: "Session Interval Too Small", 480: "Temporarily Unavailable",
        481: "Call/Transaction Does Not Exist", 482: "Loop Detected", 483: "Too Many Hops", 486: "Busy Here",
        487: "Request Terminated", 488: "Not Acceptable Here", 491: "Request Pending", 500: "Server Internal Error",
        501: "Not Implemented", 503: "Service Unavailable", 505: "Version Not Supported", 603: "Decline",
    ]
}
