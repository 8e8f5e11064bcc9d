/// Why media cannot be negotiated or opened.
struct MediaError: Error, Equatable {
    /// The kinds.
    enum Code: Equatable {
        /// The description cannot be parsed; 400.
        case malformed
        /// The description is longer than ``MediaSession/maxDescriptionBytes``; 488.
        case tooLong
        /// There is no usable audio stream, or no common codec; 488.
        case unacceptable
        /// The policy wants SRTP and the peer does not, or the other way round, or its keys cannot be used; 488.
        case security
        /// The operation does not fit the state: an answer without an offer, media after the end.
        case state
        /// The system has no free port or no memory; 500.
        case system
    }

    /// The kind.
    var code: Code
    /// Details for the log; nothing of the description's text.
    var message: String
}
