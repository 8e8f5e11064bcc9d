internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl channel ...`.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Lists and shows channels.", subcommands: [List.self, Show.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the channels of an app that have members or attributes, by name.",
            discussion: "From PostgreSQL's copy of the members, usually less than a second behind.")

        @Option(help: "The app.")
        var app: AppID

        @Option(help: "Only those with so many members at least.")
        var members = 0

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (0...1_000_000_000).contains(members) else {
                throw ValidationError("--members must be 0...1000000000")
            }
        }

        func run() async throws {
            try await Failure.reported {
                try await Database.withDirectory(of: app) { directory in
                    let found = try await directory.channels(paging.page, members: members)
                    output.show(Page("channels", found, limit: paging.limit, position: \.name))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a channel with its attributes and a page of its members.",
            discussion: "From PostgreSQL, whose copy of the members is usually less than a second behind.")

        private struct Report: Printable {
            let channel: KnownChannel
            let attributes: [Attribute]
            let page: Page<KnownMember>

            var members: [JSONMember] {
                page.members + [
                    JSONMember("attributes", attributes.json), JSONMember("channel", channel.name),
                    JSONMember("total", channel.memberCount),
                ]
            }

            var lines: [String] { [channel.line] + attributes.lines + page.lines }
        }

        @Option(help: "The app.")
        var app: AppID

        @Option(help: "The channel: 1 to 128 bytes without control characters.")
        var channel: ChannelName

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.withDirectory(of: app) { directory in
                    guard let found = try await directory.channel(channel) else {
                        throw Failure.refused("the channel \(channel) of \(app) has neither members nor attributes")
                    }
                    let attributes = try await directory.attributes(of: channel)
                    let members = try await directory.members(of: channel, paging.page)
                    let page = Page("members", members, limit: paging.limit, position: \.account)
                    output.show(Report(channel: found, attributes: attributes, page: page))
                }
            }
        }
    }
}

extension KnownChannel: PrintableRecord {
    var members: [JSONMember] {
        [
            JSONMember("channel", name), JSONMember("members", memberCount),
            JSONMember("attributes", attributes), JSONMember("oldestJoin", time: oldestJoin),
        ]
    }

    var line: String { "\(name.visible)  \(memberCount) members  \(attributes) attributes" }
}

extension KnownMember: PrintableRecord {
    var members: [JSONMember] {
        [
            JSONMember("account", account), JSONMember("uid", uid),
            JSONMember("gateway", gateway), JSONMember("joinedAt", time: joinedAt),
        ]
    }

    var line: String {
        "\(account)  uid \(uid)  since \(Output.time(milliseconds: joinedAt.milliseconds))"
            + (gateway.map { "  at \($0)" } ?? "")
    }
}
