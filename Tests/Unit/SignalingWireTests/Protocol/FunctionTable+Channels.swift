import SignalingProtocol

extension FunctionTable {
    private static let changeRefusals = [
        changeRate,
        Refusal(
            .failed, "rate_limited",
            "more than \(Limits.channelAttributeChangesPerSecond) changes a second of the channel's attributes, "
                + "or of one "
                + "than its `_setattr_limit`"),
    ]

    private static let builtInRefusals = [
        unknownBuiltIn,
        Refusal(.wrongParameter, "read_only", "`_member_num` and `_total_member_num` are set only by the system"),
        Refusal(.wrongParameter, "special_channel", "the special channels have no built-in attributes"),
    ]

    private static let members = [
        ReplyField("num", .number, "the number of all members"),
        ReplyField("list", .array, "`[account, uid]` for each, the latest first"),
    ]

    static let channels = [
        FunctionDeclaration(
            name: "channel_join", summary: "Joins a channel, and leaves the one that the user is in.",
            arguments: [.channel("name", isNew: true)],
            reply: [
                ReplyField(
                    "list", .array,
                    "`[account, uid]` for each member, the joiner included, the latest first, at most "
                        + "\(Limits.userListLatest)"),
                ReplyField("attrs", .object, "the channel's attributes: names and values"),
                ReplyField(
                    "id", .number,
                    "the id after which the channel's events begin; the first `after` of a "
                        + "resume"),
            ],
            refusals: [
                actRate,
                Refusal(.joinOther, "special_channel", "the app has closed the special channels to its clients"),
                Refusal(.joinOther, "superseded", "the session has joined another channel meanwhile"),
                Refusal(
                    .joinOther, "banned",
                    "the app's server has removed the user from the channel for a time; the user stays where it is"),
            ] + hookRefusals(.joinOther, "join"),
            calls: ["channel-join"], answers: ["reply-joined", "reply-joined-alone"]),
        FunctionDeclaration(
            name: "channel_leave",
            summary: "Leaves the channel. The other members get an event, this user gets only the "
                + "answer.",
            arguments: [.channel("name")], refusals: [actRate], calls: ["channel-leave"]),
        FunctionDeclaration(
            name: "channel_set_attr",
            summary: "Sets an attribute of a channel; membership is not required. The event follows the answer.",
            arguments: [
                .channel("channel", isNew: true), .attribute(isNew: true),
                .text("value", bytes: Limits.attributeValueBytes, "its value"),
            ],
            refusals: changeRefusals + [tooMany("channel"), memoryFull, nulCharacter] + builtInRefusals + [
                Refusal(
                    .wrongParameter, "invalid_built_in",
                    "the value of a built-in attribute is not a whole number in its range")
            ],
            calls: ["channel-set-attr"]),
        FunctionDeclaration(
            name: "channel_del_attr",
            summary: "Deletes an attribute of a channel; a built-in one is reset to its default.",
            arguments: [.channel("channel"), .attribute()],
            refusals: changeRefusals + builtInRefusals, calls: ["channel-del-attr"]),
        FunctionDeclaration(
            name: "channel_clear_attr",
            summary: "Deletes all attributes of a channel; built-in ones are reset to their "
                + "defaults.",
            arguments: [.channel("channel")], refusals: changeRefusals, calls: ["channel-clear-attr"]),
        FunctionDeclaration(
            name: "channel_query_num",
            summary: "Returns the number of a channel's members; 0 for a channel without members.",
            arguments: [.channel("name")],
            reply: [ReplyField("name", .text, "the channel"), ReplyField("num", .number, "how many")],
            refusals: [actRate], calls: ["channel-query-num"], answers: ["reply-count"]),
        FunctionDeclaration(
            name: "channel_query_user_isin", summary: "Returns whether a user is in a channel.",
            arguments: [.channel("name"), .account("account", "the user")],
            reply: [
                ReplyField("name", .text, "the channel"), ReplyField("account", .text, "the user"),
                ReplyField("isin", .number, "1 or 0"),
            ],
            refusals: [actRate], calls: ["channel-query-user-isin"], answers: ["reply-isin"]),
        FunctionDeclaration(
            name: "channel_query_userlist",
            summary: "Returns the latest \(Limits.userListLatest) members of a channel.",
            arguments: [.channel("name")], reply: members, refusals: [actRate], calls: ["channel-query-userlist"],
            answers: ["reply-members"]),
        FunctionDeclaration(
            name: "channel_query_userlist_all",
            summary: "Returns the latest `num` members of a channel: at most 50,000, and 3 MiB of names.",
            arguments: [
                .channel("name"),
                .optional("num", .number(1...Limits.userListAll, default: Limits.userListAll), "members wanted"),
            ],
            reply: members, refusals: [actRate], calls: ["channel-query-userlist-all"], answers: ["reply-members"]),
    ]
}
