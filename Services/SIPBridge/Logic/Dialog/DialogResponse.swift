/// The parts of a response that ``DialogStateMachine`` decides by.
package struct DialogResponse: Equatable, Sendable {
    /// The status code.
    package var status: Int
    /// The reason phrase.
    package var phrase: String
    /// The To tag: identifies the telephone, when an INVITE reached several.
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

/// Why a request of ours got no response.
package enum DialogFailure: Equatable, Sendable {
    /// The transaction timed out.
    case timedOut
    /// It could not be sent.
    case unreachable
}
