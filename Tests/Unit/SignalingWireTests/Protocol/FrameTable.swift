import SignalingProtocol
import SignalingWire

/// Declares a frame, other than `call2`, that a client sends.
struct ClientFrameDeclaration {
    var name: String
    var summary: String
    /// The members of the frame's argument, as the page documents them.
    var members: [Member]
    /// The fields of a successful answer's JSON text, besides `result`. The last fields may be absent.
    var reply: [ReplyField] = []
    /// The refusals that the frame may be answered with.
    var refusals: [Refusal]
    /// Golden files of the frame, in `Tests/Fixtures/wire/client`.
    var examples: [String]
    /// Golden files of its answers, in `Tests/Fixtures/wire/server`.
    var answers: [String]

    struct Member {
        var name: String
        var bounds: String
        var meaning: String

        init(_ name: String, _ bounds: String, _ meaning: String) {
            self.name = name
            self.bounds = bounds
            self.meaning = meaning
        }
    }
}

/// Declares a frame that the server sends unasked.
struct ServerFrameDeclaration {
    var title: String
    var summary: String
    /// The members of the JSON text that the frame carries.
    var fields: [ReplyField] = []
    /// Golden files of the frame, in `Tests/Fixtures/wire/server`.
    var examples: [String]
}

/// All frames other than calls and their answers, in the order of the page.
enum FrameTable {
    private static let secret = ReplyField(
        "line", .text, "the session's secret: required in every call, and to resume the session")

    private static let session = [
        secret, ReplyField("uid", .number, "the account's numeric id, the same at every login"),
        ReplyField("push", .number, "1 if the client has requested pushes; else missing"),
    ]

    private static let resumed = [
        secret, ReplyField("uid", .number, "the account's number"),
        ReplyField("resumed", .boolean, "true"),
        ReplyField("complete", .boolean, "whether all events after `after` will be sent, without a gap"),
        ReplyField("channel", .text, "the channel that the session is in; missing when it is in none"),
    ]

    static let ofClients = [
        ClientFrameDeclaration(
            name: "login",
            summary: "Requests a session. An older session of the account ends with `close`, `kick`. After a failed "
                + "login the gateway "
                + "closes the connection; a second login on a connection with a session changes nothing. Other members "
                + "are ignored.",
            members: [
                .init(
                    "vid",
                    "1...\(Limits.appIDBytes) visible ASCII characters; if missing, the second field of "
                        + "`token`",
                    "the app id"),
                .init("account", ArgumentDeclaration.Kind.account(isNew: true).bounds, "the account"),
                .init(
                    "token", "`1:APP:EXPIRY:MD5`, or `_no_need_token` for an app that accepts it",
                    "MD5 is over account, app id, certificate and expiry (Unix seconds), as one text"),
                .init("device", "visible ASCII, cut to \(LoginRequest.deviceBytes) bytes", "the kind of client"),
                .init(
                    "push", "`1`; only for clients that support it",
                    "mailbox entries are pushed instead of announced, and `messageID` is used"),
            ],
            reply: session,
            refusals: [
                Refusal(.loginTokenExpired, "TokenErrorExpired", "the token has expired"),
                Refusal(.loginTokenWrong, "TokenErrorMalformed", "the token does not have the form `1:APP:EXPIRY:MD5`"),
                Refusal(.loginTokenWrong, "TokenErrorApp", "the token is of another app"),
                Refusal(.loginTokenWrong, "TokenErrorDigest", "its MD5 is wrong"),
                Refusal(.loginTokenWrong, "TokenErrorRequired", "the app requires tokens"),
                Refusal(.loginRejected, "unknown_app", "there is no such app"),
                Refusal(.loginRejected, "banned", "the app's server has banned the user for a time"),
                Refusal(.invalidUser, "invalid_account", "the account is out of its bounds"),
                Refusal(.wrongParameter, "invalid_app_id", "the app id is out of its bounds, or missing"),
                Refusal(.loginKicked, "kick", "a newer login took the account while this one was made"),
                Refusal(.alreadyLoggedIn, "already_logged_in", "the connection has a session"),
                Refusal(.loginOther, "rate_limited", "too many failed logins from this address"),
                Refusal(.loginOther, "overloaded", "too many unknown apps are asked for; try again"),
            ] + FunctionTable.hookRefusals(.loginOther, "login"),
            examples: ["login-web", "login-push", "login-python", "login-oldest"],
            answers: ["login-ok", "login-ok-push", "login-failed"]),
        ClientFrameDeclaration(
            name: "line_login",
            summary: "Resumes a session on a new connection. When the line is invalid or its session has ended, "
                + "the answer is "
                + "`close`, and the connection is closed. When too many logins and resumes from the client's address "
                + "have failed, it is closed with 1001 instead, and the line stays valid. See *Resuming*. The answer "
                + "contains `push` like the login's.",
            members: [
                .init("line", "text", "the session's line, as `login_ret` told it"),
                .init("channel", "channel name; optional", "the channel that the client believes it is in"),
                .init(
                    "after", "whole number; optional",
                    "the id of the last event that it received: later ones are "
                        + "sent again"),
            ],
            reply: resumed,
            refusals: [Refusal(.alreadyLoggedIn, "already_logged_in", "the connection already has a session")],
            examples: ["line-login-resume", "line-login-web"], answers: ["line-login-ok"]),
        ClientFrameDeclaration(
            name: "ping", summary: "Asks for a `pong` with the same value, a number in all known clients.", members: [],
            refusals: [], examples: ["ping-python", "ping-web"], answers: ["pong"]),
    ]

    static let ofServer = [
        ServerFrameDeclaration(
            title: "`notify`, `msg`",
            summary: "The mailbox has an entry of this version: poll "
                + "it.", examples: ["notify-msg"]),
        ServerFrameDeclaration(
            title: "`notify`, `recvmsg`",
            summary: "The mailbox entry itself, `[version, line]` as JSON text, for clients that logged in with "
                + "`push`.",
            examples: ["recvmsg"]),
        ServerFrameDeclaration(
            title: "`close`",
            summary:
                "The session has ended, and the connection is closed. The second element is `kick` (a newer login), "
                + "`token_expired`, `bad_line`, or a code as text: `102` when the cluster has lost the session, `100` "
                + "when an "
                + "administrator ended it.",
            examples: ["close-kick"]),
    ]

    private static let eventFields = [
        ReplyField("channel", .text, "the channel"), ReplyField("account", .text, "the user who caused the event"),
        ReplyField("uid", .number, "their uid"),
    ]

    private static let changeFields =
        eventFields + [
            ReplyField("name", .text, "the attribute; empty for `clear`"),
            ReplyField("value", .text, "its value; empty for `del` and `clear`"),
            ReplyField("type", .text, "`update`, `del` or `clear`"),
        ]

    static let events = [
        ServerFrameDeclaration(
            title: "`channel_msg`", summary: "A message; sent to all members, the sender included.",
            fields: eventFields + [ReplyField("msg", .text, "the message")], examples: ["channel-msg"]),
        ServerFrameDeclaration(
            title: "`channel_user_join`", summary: "A user has joined; sent to all other members.", fields: eventFields,
            examples: ["channel-join"]),
        ServerFrameDeclaration(
            title: "`channel_user_leave`",
            summary: "A user has left; sent to the remaining members. A client gets its own leave only when the app's "
                + "server has removed it: it is in no channel then, and has left with 601.",
            fields: eventFields,
            examples: ["channel-leave"]),
        ServerFrameDeclaration(
            title: "`channel_attr_update`",
            summary: "An attribute has changed; sent to all members, including the one who "
                + "changed it.",
            fields: changeFields, examples: ["channel-attr-update", "channel-attr-del", "channel-attr-clear"]),
    ]

    /// The messages of the system in the special channels; the fields are those of the message's text.
    static let specialEvents = [
        ServerFrameDeclaration(
            title: "`channel_msg` in `_agora_user_online`",
            summary: "A user of the app has gone online, or offline with the code of leaving as `reason`. `msg` is the "
                + "JSON text of an object:",
            fields: specialFields(about: nil), examples: ["special-online", "special-offline"]),
        ServerFrameDeclaration(
            title: "`channel_msg` in `_agora_channel_event`",
            summary: "A user has joined a channel of the app, or left it with the code of leaving as `reason`. `msg` "
                + "is the JSON text of an object:",
            fields: specialFields(about: ReplyField("channel", .text, "the channel that the user joined or left")),
            examples: ["special-join", "special-leave"]),
    ]

    private static func specialFields(about channel: ReplyField?) -> [ReplyField] {
        let event = channel == nil ? "`online` or `offline`" : "`join` or `leave`"
        return [
            ReplyField("event", .text, event), ReplyField("account", .text, "the user"),
            ReplyField("uid", .number, "their uid"),
        ] + (channel.map { [$0] } ?? []) + [
            ReplyField("reason", .number, "0, or one of the codes 601 to 604"),
            ReplyField("time", .number, "when it happened, in Unix seconds"),
        ]
    }

    /// The types of mailbox entries about calls, each with who receives it and when.
    static let callEvents: [(type: String, meaning: String)] =
        CallVerb.allCases.map { ($0.rawValue, receiver(of: $0)) } + [
            (
                "voip_invite_failed",
                "to the caller: the invitation has failed; `extra` is `{\"code\":CODE,\"reason\":REASON}`, "
                    + "CODE 700 to 704"
            )
        ]

    static let callFields = [
        ReplyField("channel", .text, "the channel that the call is about"),
        ReplyField("peer", .text, "the other party, as the receiver sees it"),
        ReplyField("extra", .text, "text from the other party, or JSON text from the system"),
        ReplyField("peeruid", .number, "the uid of the other party; 0 for a telephone"),
    ]

    private static func receiver(of verb: CallVerb) -> String {
        switch verb {
        case .invite: "to the callee: the caller invites"
        case .acknowledge: "to the caller: the invitation has arrived"
        case .accept: "to the caller: the callee accepts"
        case .refuse: "to the caller: the callee refuses"
        case .end: "to the other party: the call has ended, or the invitation is withdrawn"
        case .message: "to the other party: digits"
        }
    }
}
