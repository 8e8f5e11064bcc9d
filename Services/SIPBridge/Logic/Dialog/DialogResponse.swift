/// A response as the dialog's decisions need it.
package struct DialogResponse: Equatable, Sendable {
    /// The status code.
    package var status: Int
    /// The reason phrase.
    package var phrase: String
    /// The tag of To: which of several answering telephones it is.
    package var tag: String
    /// What it says of session timers.
    package var session: SessionTerms
    /// Whether it is a challenge (401, 407) that can be answered.
    package var isAnswerable: Bool

    /// Makes a response.
    package init(
        status: Int, phrase: String = "", tag: String = "", session: SessionTerms = SessionTerms(),
        isAnswerable: Bool = false
    ) {
        self.status = status
        self.phrase = phrase
        self.tag = tag
        self.session = session
        self.isAnswerable = isAnswerable
    }
}

/// Why a request of ours came to no response.
package enum DialogFailure: Equatable, Sendable {
    /// Nobody answered in the time of the transaction.
    case timedOut
    /// It could not be sent.
    case unreachable
}
