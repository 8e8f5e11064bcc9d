import SignalingProtocol
import SignalingWire

/// Declares one media function, as `Docs/protocol.md` documents it.
struct MediaFunctionDeclaration {
    var function: MediaCall.Function
    var summary: String
    /// The arguments, except `line`, which every call has.
    var arguments: [MediaArgument]
    /// The fields of an answer, besides `result`: the first ones are those of every answer.
    var reply: [ReplyField]
    /// Golden files of calls, in `Tests/Fixtures/wire/client`.
    var calls: [String]
    /// Golden files of the answers, in `Tests/Fixtures/wire/server`, and the further fields of each.
    var answers: [(file: String, fields: [ReplyField])]
}

/// An argument of a media function.
struct MediaArgument {
    var name: String
    var bounds: String
    var meaning: String
    var isRequired: Bool

    init(_ name: String, _ bounds: String, _ meaning: String, isRequired: Bool = true) {
        self.name = name
        self.bounds = bounds
        self.meaning = meaning
        self.isRequired = isRequired
    }
}

/// Media: functions, events, and the refusals with their codes.
enum MediaTable {
    static let hello = ClientFrameDeclaration(
        name: "media_hello",
        summary: "Opens the socket for media calls alone, without an account and without presence: engines that have "
            + "only an app id use it. A login on such a socket is refused, and so is this frame after a login. A "
            + "socket without a participant for \(Int(MediaSocketBounds.idleSeconds)) s is closed. Other members are "
            + "ignored.",
        members: [
            .init("vid", "1...\(Limits.appIDBytes) visible ASCII characters", "the app id"),
            .init("device", "ignored", "the kind of client"), .init("sdk", "ignored", "the version of its library"),
        ],
        reply: [ReplyField("line", .text, "the socket's secret: required in every call")], refusals: [],
        examples: ["media-hello"], answers: ["media-hello-ok", "media-hello-failed"])

    private static let channel = MediaArgument(
        "channel",
        "\(MediaChannelName.bytes.lowerBound)...\(MediaChannelName.bytes.upperBound) letters, digits, spaces and "
            + "``! # $ % & ( ) + , - : ; < = . > ? @ [ ] ^ _ { } | ~ ` ``", "the media channel")

    private static let participant = MediaArgument("pid", "1...64 visible ASCII characters", "the participant")
    private static let secret = MediaArgument("secret", "a text", "what the answer to the join has told")
    private static let kind = MediaArgument("kind", "`engine` or `web`", "how media travels: see `pub` and `offer`")
    private static let publicKey = MediaArgument(
        "pub", "32 bytes in base64", "of an engine: its X25519 key", isRequired: false)
    private static let codecs = MediaArgument(
        "codecs", "up to 16 names", "of an engine: the names of its codecs; `opus` must be one", isRequired: false)
    private static let offer = MediaArgument(
        "offer", "up to 65,536 bytes", "of a page: its session description", isRequired: false)

    private static let rosterNumber = ReplyField("n", .number, "the number of the roster's last change")
    private static let users = ReplyField(
        "users", .array,
        "`[UID, FLAGS, AGE]` of all members, oldest first. FLAGS: 1 audio muted, 2 video muted, 4 video enabled, "
            + "8 sends nothing, 16 telephone, 32 absent; AGE in ms")
    private static let engineTransport = [
        ReplyField("candidates", .array, "`[\"udp\", ADDRESS, PORT]`: where the node receives"),
        ReplyField("ufrag", .text, "the node's user name fragment of ICE"),
        ReplyField("pwd", .text, "the password of checks to the node"),
        ReplyField("pub", .text, "the node's X25519 key"),
        ReplyField("suite", .text, "the SRTP profile"),
        ReplyField("ssrcs", .object, "`audio`: the SSRC to send with"),
        ReplyField("slots", .object, "`audio`: the SSRCs that are received"),
        ReplyField("pts", .object, "`opus`: the payload type, both ways"),
    ]
    private static let pageTransport = [
        ReplyField("answer", .text, "the node's session description"),
        ReplyField("iceServers", .array, "further servers for the connection"),
    ]

    static let functions = [
        MediaFunctionDeclaration(
            function: .join,
            summary:
                "Lets the client into a media channel, under a uid that nobody else has there: who had it before is "
                + "over. With the same `call`, the participant of before goes on, and nobody is told. Calls of this "
                + "function: up to \(MediaSocketBounds.joins) in \(Int(MediaSocketBounds.joinSeconds)) s on a socket.",
            arguments: [
                channel,
                MediaArgument("uid", "0...4294967295", "the uid; 0 for any that is free"),
                MediaArgument("key", "a text", "the dynamic key", isRequired: false),
                MediaArgument(
                    "info", "up to \(MediaJoinRequest.infoBytes) bytes", "for the record of the call", isRequired: false
                ),
                MediaArgument("call", "32 hexadecimal digits", "the call's id, made by the client"),
                kind,
                MediaArgument("enabled", "0 or 1", "whether the client sends video; default 0", isRequired: false),
                MediaArgument(
                    "muted", "0...3", "1: its audio is muted, 2: its video, 3: both; default 0", isRequired: false),
                publicKey, codecs, offer,
                MediaArgument(
                    "avoid", "up to \(MediaJoinRequest.avoidCount) names", "the nodes that the client could not reach",
                    isRequired: false),
            ],
            reply: [
                ReplyField("uid", .number, "the uid"),
                ReplyField("pid", .text, "the participant's id"),
                ReplyField("secret", .text, "for calls about the participant on other sockets"),
                ReplyField("node", .text, "the media node"),
                ReplyField("epoch", .number, "grows with each node that the channel has been on"),
                rosterNumber,
                ReplyField("expiry", .number, "when the key's service ends, in Unix seconds; 0 for never"),
                users,
            ],
            calls: ["media-join-engine", "media-join-web"],
            answers: [
                (
                    "reply-media-joined-engine",
                    engineTransport
                ),
                (
                    "reply-media-joined-web",
                    pageTransport
                ),
            ]),
        MediaFunctionDeclaration(
            function: .resume,
            summary: "Binds a participant to this socket, at whichever gateway: events come here, and the socket that "
                + "had them may no longer call for it. The client compares `n` with its own and takes the roster.",
            arguments: [
                channel, participant, secret, MediaArgument("n", "ignored", "what the client has", isRequired: false),
            ],
            reply: [rosterNumber, users], calls: ["media-resume"], answers: [("reply-media-resumed", [])]),
        MediaFunctionDeclaration(
            function: .restart,
            summary:
                "Begins a participant's path anew, with the same uid and the same SSRCs, and binds it to this socket: "
                + "after a page's ICE has failed, or an engine has lost its keys. Nobody is told.",
            arguments: [channel, participant, secret, kind, publicKey, codecs, offer], reply: [],
            calls: ["media-restart"], answers: [("reply-media-restarted", engineTransport)]),
        MediaFunctionDeclaration(
            function: .renew,
            summary: "Gives a participant of this socket a new key, at the latest 15 s after the event `key`.",
            arguments: [channel, participant, MediaArgument("key", "a text", "the dynamic key")],
            reply: [ReplyField("expiry", .number, "when the key's service ends, in Unix seconds; 0 for never")],
            calls: ["media-renew"], answers: [("reply-media-renewed", [])]),
        MediaFunctionDeclaration(
            function: .mute,
            summary: "Changes what a participant of this socket sends; at least one of the three is there. The others "
                + "are told; the socket itself is not: the answer has the number that its roster goes on from.",
            arguments: [
                channel, participant,
                MediaArgument("audio", "0 or 1", "1: its audio is muted", isRequired: false),
                MediaArgument("video", "0 or 1", "1: its video is muted", isRequired: false),
                MediaArgument("enabled", "0 or 1", "1: it has video", isRequired: false),
            ],
            reply: [], calls: ["media-mute"],
            answers: [
                (
                    "reply-media-muted",
                    [
                        ReplyField(
                            "n", .number,
                            "the number of the roster's change; left out when nothing has changed, and by older nodes")
                    ]
                ), ("reply-media-muted-same", []),
            ]),
        MediaFunctionDeclaration(
            function: .leave, summary: "Ends a participant of this socket.",
            arguments: [channel, participant],
            reply: [
                ReplyField("duration", .number, "since the join, in ms"),
                ReplyField("bytes", .number, "what was sent and received, in bytes of datagrams"),
            ],
            calls: ["media-leave"], answers: [("reply-media-left", [])]),
    ]

    /// An event's golden file, with the fields besides `t`, `channel` and `pid`.
    static let events: [(name: String, file: String, meaning: String, fields: [ReplyField])] = [
        ("joined", "media-joined", "a user has joined", [n, uid, flags]),
        (
            "left", "media-left", "a user has left",
            [n, uid, ReplyField("reason", .text, "quit, dropped, replaced or closed")]
        ),
        ("state", "media-state", "a user's flags have changed", [n, uid, flags]),
        (
            "stats", "media-stats",
            "every 2 s, or 10 s while nobody sends: how the users' audio reaches the node, of those who are not muted",
            [
                ReplyField(
                    "n", .number,
                    "the number of the roster's last change: a client with a lower one has missed an event, and takes "
                        + "the roster by `media.resume`; left out by older nodes"),
                ReplyField("users", .array, "`[UID, DELAY, LOSS]`: ms from the user to the node; % lost on the way"),
            ]
        ),
        ("key", "media-key", "the key's service has ended: media stop until `media.renew`", []),
        (
            "gone", "media-gone", "the participant itself is over",
            [ReplyField("reason", .text, "replaced, key, closed or limit")]
        ),
    ]

    private static let n = ReplyField("n", .number, "the number of the change: one more than that before")
    private static let uid = ReplyField("uid", .number, "the user")
    private static let flags = ReplyField("flags", .number, "as in `users`")
}

/// What the gateway's logic bounds, which this module does not know; MediaSocketTests has the same numbers.
enum MediaSocketBounds {
    static let joins = 5
    static let joinSeconds = 10.0
    static let idleSeconds = 60.0
    static let calls = 16
    static let changes = 5
    static let changesAtOnce = 20
}
