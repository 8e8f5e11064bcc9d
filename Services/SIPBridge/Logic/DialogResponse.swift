/// A response as the dialog's decisions need it.
public struct DialogResponse: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The reason phrase.
    public var phrase: String
    /// The tag of To: which of several answering telephones it is.
    public var tag: String
    /// What it says of session timers.
    public var session: SessionTerms
    /// Whether it is a challenge (401, 407) that can be answered.
    public var isAnswerable: Bool

    /// Makes a response.
    public init(
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
public enum DialogFailure: Equatable, Sendable {
    /// Nobody answered in the time of the transaction.
    case timedOut
    /// It could not be sent.
    case unreachable
}
