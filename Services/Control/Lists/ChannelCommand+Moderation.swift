internal import ArgumentParser
internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import MessageStore
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingWire

extension ChannelCommand {
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes an account from a channel, and keeps it out for a time.",
            discussion: """
                The client is told that it has left with 601; joins are refused with 300 `banned` until the time. \
                Restrictions are in Redis only. It is noted in the audit trail before, in PostgreSQL.
                """)

        @OptionGroup var member: MemberOptions

        @Option(help: "Keep it out for so many seconds: up to 2592000, 30 days; 0 for not at all.")
        var seconds = 0

        @OptionGroup var note: ReasonOptions

        @OptionGroup var output: OutputOptions

        func validate() throws { try ChannelCommand.check(seconds, atLeast: 0) }

        func run() async throws {
            let command = member.restriction(.ban, seconds: seconds, reason: note.reason)
            try await ChannelCommand.restrict(command)
            output.show(
                RestrictionOutput(deed: "removed", command, line: "\(member.account) will be removed"))
        }
    }

    struct Mute: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuses an account's messages to a channel for a time.",
            discussion: "They are refused with 400 `muted`. Attributes stay allowed. A mute replaces an earlier one.")

        @OptionGroup var member: MemberOptions

        @Option(help: "For so many seconds: 1 to 2592000, 30 days.")
        var seconds: Int

        @OptionGroup var note: ReasonOptions

        @OptionGroup var output: OutputOptions

        func validate() throws { try ChannelCommand.check(seconds, atLeast: 1) }

        func run() async throws {
            let command = member.restriction(.mute, seconds: seconds, reason: note.reason)
            try await ChannelCommand.restrict(command)
            output.show(RestrictionOutput(deed: "muted", command, line: "\(member.account) is muted"))
        }
    }

    struct Unban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets an account into a channel again from which it is kept out.")

        @OptionGroup var member: MemberOptions

        @OptionGroup var output: OutputOptions

        func run() async throws { try await ChannelCommand.lift(.ban, member, output) }
    }

    struct Unmute: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends an account's mute in a channel.")

        @OptionGroup var member: MemberOptions

        @OptionGroup var output: OutputOptions

        func run() async throws { try await ChannelCommand.lift(.mute, member, output) }
    }

    struct Bans: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the accounts that are kept out of a channel.", discussion: "From Redis.")

        @OptionGroup var page: RestrictionPageOptions

        @OptionGroup var output: OutputOptions

        func run() async throws { try await ChannelCommand.list(.ban, page, output) }
    }

    struct Mutes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the accounts that are muted in a channel.", discussion: "From Redis.")

        @OptionGroup var page: RestrictionPageOptions

        @OptionGroup var output: OutputOptions

        func run() async throws { try await ChannelCommand.list(.mute, page, output) }
    }

    /// After this time the order to remove a member is dropped.
    private static let patience = Duration.seconds(60)

    private static func check(_ seconds: Int, atLeast least: Int) throws {
        let bound = least...ChannelRestriction.seconds.upperBound
        guard bound.contains(seconds) else {
            throw ValidationError("--seconds must be \(bound.lowerBound)...\(bound.upperBound)")
        }
    }

    /// Records a restriction in Redis, and has channel-state remove a member who is kept out.
    private static func restrict(_ command: RestrictMember) async throws {
        try await Failure.reported {
            let user = UserKey(app: command.channel.app, account: command.account)
            let id = CommandID("restrict-\(SecureRandom.hex(bytes: 12))")
            try await ControlRedis.withConnection(libraries: [.channels, .streams]) { connection in
                try await Database.note(
                    .restrict(command.kind, command.channel.name, until: command.until, reason: command.reason),
                    to: user)
                if command.until > 0 {
                    _ = try await connection.execute(.restricting(command, id))
                }
                guard command.kind == .ban else { return }
                var removal = command
                removal.until = 0
                let slot = connection.bus.partition(of: command.subject).slot
                let now = try await connection.execute(RedisCommand("TIME").inSlot(slot)).time
                _ = try await connection.execute(
                    PostedCommand.command(
                        on: connection.bus, for: removal, id: id.derived("remove"),
                        deadline: now.map { $0 + patience }))
            }
        }
    }

    private static func lift(
        _ kind: RestrictionKind, _ member: MemberOptions, _ output: OutputOptions
    ) async throws {
        try await Failure.reported {
            let command = LiftRestriction(channel: member.key, account: member.account, kind: kind)
            let user = UserKey(app: member.app, account: member.account)
            try await ControlRedis.withConnection(libraries: [.channels]) { connection in
                try await Database.note(.liftRestriction(kind, member.channel), to: user)
                _ = try await connection.execute(.lifting(command))
            }
            output.show(
                Outcome(
                    deed: kind == .ban ? "unbanned" : "unmuted", subject: member.account.rawValue,
                    line: "\(member.account) may \(kind == .ban ? "join" : "send to") \(member.channel)"))
        }
    }

    private static func list(
        _ kind: RestrictionKind, _ page: RestrictionPageOptions, _ output: OutputOptions
    ) async throws {
        try await Failure.reported {
            let command = ListRestrictions(
                channel: ChannelKey(app: page.app, name: page.channel), kind: kind, after: page.after,
                limit: page.limit)
            let reply = try await ControlRedis.withConnection(libraries: [.channels]) { connection in
                try await connection.execute(.listing(command))
            }
            guard let found = try? RestrictionPage(reply) else { throw Failure.refused("Redis' list is no list") }
            output.show(
                Page(
                    name: kind == .ban ? "bans" : "mutes", records: found.restrictions.map(Record.init),
                    next: found.next))
        }
    }
}

/// Whom in which channel a command is about.
struct MemberOptions: ParsableArguments {
    @Option(help: "The app.")
    var app: AppID

    @Option(help: "The channel: 1 to 128 bytes without control characters.")
    var channel: ChannelName

    @Option(help: "The account, which need not be in the channel.")
    var account: Account

    func validate() throws {
        guard channel.special == nil else { throw ValidationError("--channel must not be a special channel") }
    }

    var key: ChannelKey { ChannelKey(app: app, name: channel) }

    /// - Parameter seconds: for how long; 0 for none.
    func restriction(_ kind: RestrictionKind, seconds: Int, reason: String) -> RestrictMember {
        RestrictMember(
            channel: key, account: account, kind: kind, until: seconds == 0 ? 0 : WallClock.seconds + Int64(seconds),
            reason: reason)
    }
}

/// Why something is done, as the audit trail and lists have it.
struct ReasonOptions: ParsableArguments {
    @Option(help: "Why: up to 512 bytes. The user is not told.")
    var reason = ""

    func validate() throws { try BanOptions.check(reason: reason) }
}

/// Which page of a channel's restrictions to show.
struct RestrictionPageOptions: ParsableArguments {
    @Option(help: "The app.")
    var app: AppID

    @Option(help: "The channel.")
    var channel: ChannelName

    @Option(help: "How many at most: 1 to 1000.")
    var limit = 100

    @Option(help: "Begin after this: the `next` of the page before.")
    var after = ""

    func validate() throws {
        guard (1...PageOptions.bound).contains(limit) else {
            throw ValidationError("--limit must be 1...\(PageOptions.bound)")
        }
        guard after.utf8.count <= Limits.accountBytes else {
            throw ValidationError("--after may have up to \(Limits.accountBytes) bytes")
        }
    }
}

/// What was ordered, as commands print it.
private struct RestrictionOutput: Printable {
    private let deed: String
    private let command: RestrictMember
    private let line: String

    init(deed: String, _ command: RestrictMember, line: String) {
        (self.deed, self.command, self.line) = (deed, command, line)
    }

    var members: [JSONMember] {
        [
            JSONMember(deed, command.account.rawValue), JSONMember("channel", command.channel.name.rawValue),
            // In Unix seconds; null for a removal alone.
            JSONMember("until", command.until > 0 ? command.until : nil),
        ]
    }

    var lines: [String] {
        let end = command.until > 0 ? " until \(Output.time(milliseconds: command.until * 1000))" : ""
        return ["\(line) in \(command.channel.name.rawValue.visible)\(end)"]
    }
}

extension Record {
    fileprivate init(_ restriction: ChannelRestriction) {
        let (account, reason) = (restriction.account.rawValue, restriction.reason)
        self.init(
            json: .object([
                JSONMember("account", account), JSONMember("until", restriction.until), JSONMember("reason", reason),
                JSONMember("createdAt", restriction.createdAt),
            ]),
            line: "\(account.visible)  until \(Output.time(milliseconds: restriction.until * 1000))"
                + (reason.isEmpty ? "" : "  \(reason.visible)"))
    }
}
