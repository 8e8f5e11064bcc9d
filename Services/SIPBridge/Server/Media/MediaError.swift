/// Why media cannot be had.
struct MediaError: Error, Equatable {
    /// The kinds.
    enum Code: Equatable {
        /// The description cannot be read; 400.
        case malformed
        /// The description is longer than ``MediaSession/maxDescriptionBytes``; 488.
        case tooLong
        /// There is no audio stream that can be had, or none of its codecs; 488.
        case unacceptable
        /// The policy wants SRTP and the peer does not, or the other way round, or its keys cannot be used; 488.
        case security
        /// Not a moment for this: an answer without an offer, media after the end.
        case state
        /// The system gave no port, no memory; 500.
        case system
    }

    /// The kind.
    var code: Code
    /// What exactly, without anything of the description.
    var message: String
}
