import SignalingProtocol
import SignalingWire

extension FunctionTable {
    private static let messageID = ArgumentDeclaration.optional(
        "messageID", .identifier(bytes: ClientCall.messageIDBytes),
        "unique within the session; only for clients that logged in with `push`: a message that is sent again within a "
            + "minute with the same id takes effect once")

    static let messages = [
        FunctionDeclaration(
            name: "user_getmsg",
            summary: "Polls the mailbox, and acknowledges processed entries. Never refused because of its arguments or "
                + "its rate: "
                + "above \(Limits.pollsPerSecond) per second the answer is delayed.",
            arguments: [
                .optional(
                    "ver_clear", .clampedNumber(0...Int.max, default: 0),
                    "the highest version that the client has processed: entries up to it are deleted"),
                .optional("max", .clampedNumber(Limits.mailboxPage, default: 30), "entries wanted"),
            ],
            reply: [
                ReplyField(
                    "ver_clear", .number, "the highest version ever acknowledged, which is below those of `msgs`"),
                ReplyField(
                    "msgs", .array,
                    "`[version, line]` for each entry, versions ascending; when more wait than fit, a "
                        + "`notify` follows"),
            ],
            refusals: [], calls: ["user-getmsg"], answers: ["reply-mailbox", "reply-mailbox-empty"]),
        FunctionDeclaration(
            name: "user_sendmsg", summary: "Adds a message to a user's mailbox, whether the user is online or not.",
            arguments: [
                .account("peer", isNew: true, "the receiver"),
                .text("content", bytes: Limits.messageBytes, "the message"),
                .optional("t", .constant("instant"), "the entry's type"),
                .optional(
                    "flag", .timeToLive(1...Limits.messageTimeToLive, default: 3600),
                    "how long the message waits for the receiver; the operator may set a lower maximum"),
                messageID,
            ],
            refusals: [
                messageRate, memoryFull,
                Refusal(
                    .messageOther, "mailbox_full",
                    "\(Limits.mailboxEntries) messages or \(Limits.mailboxBytes) bytes wait for the receiver; or "
                        + "half of them, "
                        + "and a quarter from this sender"),
            ] + hookRefusals(.messageOther, "message"),
            calls: ["user-sendmsg-web", "user-sendmsg-python"]),
        FunctionDeclaration(
            name: "channel_sendmsg",
            summary:
                "Sends a message to all members of a channel, the sender included. The sender must be a member, unless "
                + "`force` is true.",
            arguments: [
                .channel("name", isNew: true), .text("msg", bytes: Limits.messageBytes, "the message"),
                .optional("force", .flag, "whether to send without being a member"),
                messageID,
            ],
            refusals: [
                messageRate,
                Refusal(
                    .messageOther, "rate_limited",
                    "more than \(Limits.channelMessagesPerSecond) messages a second in the channel, or than its "
                        + "`_sendmsg_limit`"),
                Refusal(.messageOther, "not_member", "the sender is not in the channel"),
                Refusal(.wrongParameter, "special_channel", "only the system sends messages in the special channels"),
                memoryFull,
                Refusal(.messageOther, "muted", "the app's server has muted the user in the channel for a time"),
                Refusal(
                    .messageOther, "banned", "the app's server has removed the user from the channel for a time"),
            ] + hookRefusals(.messageOther, "message"),
            calls: ["channel-sendmsg", "channel-sendmsg-force"]),
    ]

    static let users = [
        FunctionDeclaration(
            name: "user_logout",
            summary: "Ends the session. After the answer, the server closes the connection with 1000.",
            arguments: [], refusals: [], calls: ["user-logout"]),
        FunctionDeclaration(
            name: "user_query_user_status", summary: "Returns whether a user has a session, connected or detached.",
            arguments: [.account("account", "the user")],
            reply: [
                ReplyField("account", .text, "the user"), ReplyField("status", .number, "1 online, 0 offline"),
            ],
            refusals: [actRate], calls: ["user-query-user-status"], answers: ["reply-status", "reply-status-offline"]),
        FunctionDeclaration(
            name: "user_set_attr", summary: "Sets an attribute of the caller. It outlives the session.",
            arguments: [.attribute(isNew: true), .text("value", bytes: Limits.attributeValueBytes, "its value")],
            refusals: [
                changeRate, tooMany("user"), memoryFull, nulCharacter, unknownBuiltIn,
                Refusal(.wrongParameter, "not_an_integer", "`_conn_timeout` must be a whole number"),
            ],
            calls: ["user-set-attr"]),
        FunctionDeclaration(
            name: "user_get_attr", summary: "Returns an attribute of any user.",
            arguments: [.account("account", "the user"), .attribute()],
            reply: [
                ReplyField("account", .text, "the user"), ReplyField("name", .text, "the attribute"),
                ReplyField("value", .text, "its value; empty when the user has no such attribute"),
            ],
            refusals: [actRate], calls: ["user-get-attr"], answers: ["reply-attribute"]),
        FunctionDeclaration(
            name: "user_get_attr_all", summary: "Returns all attributes of any user.",
            arguments: [.account("account", "the user")],
            reply: [
                ReplyField("account", .text, "the user"),
                ReplyField("json", .text, "the JSON text of an object of all attributes, `{}` when there are none"),
            ],
            refusals: [actRate], calls: ["user-get-attr-all"], answers: ["reply-attributes", "reply-attributes-none"]),
    ]
}
