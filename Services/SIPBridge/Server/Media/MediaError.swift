/// Why media cannot be negotiated or opened.
struct MediaError: Error, Equatable {
    /// The kinds of errors, with the status of the response to the request.
    enum Code: Equatable {
        /// The description cannot be parsed; 400.
        case malformed
        /// The description is longer than ``MediaSession/maxDescriptionBytes``; 488.
        case tooLong
        /// There is no usable audio stream, or no common codec; 488.
        case unacceptable
        /// The trunk's policy requires SRTP and the peer does not support it, or the reverse, or its keys cannot be
        /// used; 488.
        case security
        /// The operation is not allowed in the current state: an answer without an offer, or media after the end.
        case state
        /// The system has no free port or memory; 500.
        case system
    }

    /// The kind of error.
    var code: Code
    /// Details for the log, without text from the description.
    var message: String
}
