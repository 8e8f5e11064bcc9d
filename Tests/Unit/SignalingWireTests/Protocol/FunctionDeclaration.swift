import SignalingProtocol

/// One function of `call2`: what `Docs/protocol.md` says of it.
struct FunctionDeclaration {
    var name: String
    /// What it does, in one or two sentences.
    var summary: String
    /// All but `line`, which every call has.
    var arguments: [ArgumentDeclaration]
    /// What a successful answer holds besides `result`.
    var reply: [ReplyField] = []
    /// What refuses it, besides what its arguments say and ``FunctionTable/everywhere``.
    var refusals: [Refusal]
    /// Golden files of calls: `Tests/Fixtures/wire/client/NAME.json`. The first is the page's example.
    var calls: [String]
    /// Golden files of its answers, as above in `server`.
    var answers: [String] = ["reply-done"]
}

/// A field of a successful answer.
struct ReplyField {
    var name: String
    var type: JSONType
    var meaning: String

    init(_ name: String, _ type: JSONType, _ meaning: String) {
        self.name = name
        self.type = type
        self.meaning = meaning
    }

    /// What stands on the wire.
    enum JSONType: String {
        case number, text, array, object, boolean
    }
}

/// All functions, in the order of the page.
enum FunctionTable {
    static let all = messages + users + channels + calls

    /// What may refuse any function.
    static let everywhere = [
        Refusal(.notLoggedIn, "not_logged_in", "the connection has no session"),
        Refusal(.notLoggedIn, "bad_line", "`line` is missing, or not that of the connection's session"),
        Refusal(
            .notLoggedIn, "session_over",
            "the session is over or goes on at another gateway; only for what is done in its name"),
        Refusal(.wrongParameter, "invalid_arguments", "the third element of the call is no object"),
        Refusal(.unknown, "unknown_function", "there is no such function"),
        Refusal(.failed, "unavailable", "Redis, PostgreSQL or a service cannot be reached; try again"),
        Refusal(.failed, "overloaded", "too many commands wait for answers; try again"),
        Refusal(
            .failed, "timeout",
            "no answer within 8 s; with 401 for messages, with 501 for `channel_query_num`"),
    ]

    static let actRate = Refusal(
        .failed, "rate_limited", "more than \(Limits.actsPerSecond) acts a second, after \(Limits.actsBurst) at once")

    static let changeRate = Refusal(
        .failed, "rate_limited",
        "more than \(Limits.attributeChangesPerSecond) changes of attributes a second, after "
            + "\(Limits.attributeChangesBurst) at once")

    static let messageRate = Refusal(
        .messageOther, "rate_limited", "more than \(Limits.messagesPerSecond) such messages a second")

    static let memoryFull = Refusal(.failed, "memory_full", "Redis' memory is nearly used up; try again later")

    static func tooMany(_ owner: String) -> Refusal {
        Refusal(
            .largeParameter, "too_many_attributes",
            "the \(owner) would have more than \(Limits.attributesPerOwner) attributes, or more than "
                + "\(Limits.attributeBytesPerOwner) bytes of names and values")
    }

    static let unknownBuiltIn = Refusal(
        .wrongParameter, "unknown_built_in", "a name with a leading underscore that is no built-in attribute")
}
