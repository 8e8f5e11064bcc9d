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
        Refusal(.wrongParameter, "read_only", "`_member_num` and `_total_member_num` are kept by the system"),
        Refusal(.wrongParameter, "special_channel", "the special channels have no built-in attributes"),
    ]

    private static let members = [
        ReplyField("num", .number, "how many members there are"),
        ReplyField("list", .array, "`[account, uid]` for each, the latest first"),
    ]

    static let channels = [
        FunctionDeclaration(
            name: "channel_join", summary: "Joins a channel. A user is in one channel at a time: the old one is left.",
            arguments: [.channel("name")],
            reply: [
                ReplyField(
                    "list", .array,
                    "`[account, uid]` for each member, the joiner included, the latest first, at most "
                        + "\(Limits.userListLatest)"),
                ReplyField("attrs", .object, "the channel's attributes, name to value"),
                ReplyField(
                    "id", .number,
                    "the id that the channel's events begin after; the first `after` of a "
                        + "resume"),
            ],
            refusals: [
                actRate,
                Refusal(.joinOther, "special_channel", "the app closes the special channels to its clients"),
                Refusal(.joinOther, "superseded", "the session joined another channel meanwhile"),
            ],
            calls: ["channel-join"], answers: ["reply-joined", "reply-joined-alone"]),
        FunctionDeclaration(
            name: "channel_leave",
            summary: "Leaves the channel. Its other members are told, the leaver gets the "
                + "answer only.",
            arguments: [.channel("name")], refusals: [actRate], calls: ["channel-leave"]),
        FunctionDeclaration(
            name: "channel_set_attr",
            summary: "Sets an attribute of a channel, by a member or anybody else. Members are told after the answer.",
            arguments: [
                .channel("channel"), .attribute(), .text("value", bytes: Limits.attributeValueBytes, "its value"),
            ],
            refusals: changeRefusals + [tooMany("channel"), memoryFull] + builtInRefusals + [
                Refusal(.wrongParameter, "invalid_built_in", "a built-in's value is no whole number of its range")
            ],
            calls: ["channel-set-attr"]),
        FunctionDeclaration(
            name: "channel_del_attr", summary: "Deletes an attribute of a channel; a built-in one gets its default.",
            arguments: [.channel("channel"), .attribute()],
            refusals: changeRefusals + builtInRefusals, calls: ["channel-del-attr"]),
        FunctionDeclaration(
            name: "channel_clear_attr",
            summary: "Deletes all attributes of a channel; built-in ones get their "
                + "defaults.",
            arguments: [.channel("channel")], refusals: changeRefusals, calls: ["channel-clear-attr"]),
        FunctionDeclaration(
            name: "channel_query_num", summary: "Tells how many members a channel has; 0 for one that nobody is in.",
            arguments: [.channel("name")],
            reply: [ReplyField("name", .text, "the channel"), ReplyField("num", .number, "how many")],
            refusals: [actRate], calls: ["channel-query-num"], answers: ["reply-count"]),
        FunctionDeclaration(
            name: "channel_query_user_isin", summary: "Tells whether a user is in a channel.",
            arguments: [.channel("name"), .account("account", "the user")],
            reply: [
                ReplyField("name", .text, "the channel"), ReplyField("account", .text, "the user"),
                ReplyField("isin", .number, "1 or 0"),
            ],
            refusals: [actRate], calls: ["channel-query-user-isin"], answers: ["reply-isin"]),
        FunctionDeclaration(
            name: "channel_query_userlist",
            summary: "Lists the latest \(Limits.userListLatest) members of a channel.",
            arguments: [.channel("name")], reply: members, refusals: [actRate], calls: ["channel-query-userlist"],
            answers: ["reply-members"]),
        FunctionDeclaration(
            name: "channel_query_userlist_all",
            summary: "Lists the latest `num` members of a channel: at most 50,000, and 3 MiB of names.",
            arguments: [
                .channel("name"),
                .optional("num", .number(1...Limits.userListAll, default: Limits.userListAll), "members wanted"),
            ],
            reply: members, refusals: [actRate], calls: ["channel-query-userlist-all"], answers: ["reply-members"]),
    ]
}
