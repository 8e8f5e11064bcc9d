import SignalingProtocol

/// Declares one function of `call2`, as `Docs/protocol.md` documents it.
struct FunctionDeclaration {
    var name: String
    /// What it does, in one or two sentences.
    var summary: String
    /// The arguments, except `line`, which every call has.
    var arguments: [ArgumentDeclaration]
    /// The fields of a successful answer, besides `result`.
    var reply: [ReplyField] = []
    /// The refusals, besides those of its arguments and ``FunctionTable/everywhere``.
    var refusals: [Refusal]
    /// Golden files of calls, `Tests/Fixtures/wire/client/NAME.json`. The first is the example on the page.
    var calls: [String]
    /// Golden files of the answers, in `Tests/Fixtures/wire/server`.
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

    /// The field's JSON type on the wire.
    enum JSONType: String {
        case number, text, array, object, boolean
    }
}

/// All functions, in the order of `Docs/protocol.md`.
enum FunctionTable {
    static let all = messages + users + channels + calls

    /// Refusals that any function may be answered with.
    static let everywhere = [
        Refusal(.notLoggedIn, "not_logged_in", "the connection has no session"),
        Refusal(.notLoggedIn, "bad_line", "`line` is missing, or not that of the connection's session"),
        Refusal(
            .notLoggedIn, "session_over",
            "the session has ended or continues on another gateway; only for acts on its behalf"),
        Refusal(.wrongParameter, "invalid_arguments", "the third element of the call is not an object"),
        Refusal(.unknown, "unknown_function", "there is no such function"),
        Refusal(.failed, "unavailable", "Redis, PostgreSQL or a service cannot be reached; try again"),
        Refusal(.failed, "overloaded", "too many commands wait for answers; try again"),
        Refusal(
            .failed, "timeout",
            "no answer within 8 s; with 401 for messages, with 501 for `channel_query_num`"),
    ]

    /// Refusals that tell of a defect, or of releases that do not understand each other.
    static let defects = [
        Refusal(
            .unknown, "unknown_operation",
            "the service is older than the gateway, and does not know what it is asked for"),
        Refusal(.failed, "bad_fields", "the gateway and the service do not understand each other's commands"),
        Refusal(.failed, "unreadable_call", "the call was recorded by a newer release; only for calls"),
        Refusal(.failed, "refused_by_postgres", "PostgreSQL does not accept a value that passed all checks"),
        Refusal(.failed, "reply_too_long", "the answer would be longer than \(Limits.replyBytes) bytes"),
    ]

    static let actRate = Refusal(
        .failed, "rate_limited", "more than \(Limits.actsPerSecond) acts a second, after \(Limits.actsBurst) at once")

    static let changeRate = Refusal(
        .failed, "rate_limited",
        "more than \(Limits.attributeChangesPerSecond) changes of attributes a second, after "
            + "\(Limits.attributeChangesBurst) at once")

    static let messageRate = Refusal(
        .messageOther, "rate_limited", "more than \(Limits.messagesPerSecond) such messages a second")

    /// What the app's before-hook refuses.
    static func hookRefusals(_ code: SignalingCode, _ what: String) -> [Refusal] {
        [
            Refusal(code, "denied", "the app's server does not allow the \(what)"),
            Refusal(code, "unavailable", "the app's server, which must allow the \(what), gave no answer; try again"),
        ]
    }

    static let memoryFull = Refusal(.failed, "memory_full", "Redis' memory is nearly full; try again later")

    static let nulCharacter = Refusal(
        .wrongParameter, "nul_character", "the value contains the NUL character, which PostgreSQL cannot store")

    static func tooMany(_ owner: String) -> Refusal {
        Refusal(
            .largeParameter, "too_many_attributes",
            "the \(owner) would have more than \(Limits.attributesPerOwner) attributes, or more than "
                + "\(Limits.attributeBytesPerOwner) bytes of names and values")
    }

    static let unknownBuiltIn = Refusal(
        .wrongParameter, "unknown_built_in", "the name has a leading underscore but is not a built-in attribute")
}
