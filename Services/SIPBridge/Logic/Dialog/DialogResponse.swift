/// The parts of a response on which ``DialogStateMachine`` bases its decisions.
package struct DialogResponse: Equatable, Sendable {
    /// The status code.
    package var status: Int
    /// The reason phrase.
    package var phrase: String
    /// The To tag; identifies the telephone when an INVITE has reached several.
    package var tag: String
    /// The response's session timer fields.
    package var session: SessionTimerFields
    /// Whether it is a challenge (401, 407) that can be answered.
    package var isAnswerable: Bool

    /// Creates a response.
    package init(
        status: Int, phrase: String = "", tag: String = "", session: SessionTimerFields = SessionTimerFields(),
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
    /// The request could not be sent.
    case unreachable
}
