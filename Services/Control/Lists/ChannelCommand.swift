internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl channel ...`.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Lists and shows channels, and moderates them.",
        subcommands: [
            List.self, Show.self, Remove.self, Unban.self, Bans.self, Mute.self, Unmute.self, Mutes.self,
        ])

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
                var filter = RecordFilter()
                filter.members = members
                try await Database.withRecords(of: app) { [filter] records in
                    output.show(
                        try await records.page(.channels, paging, matching: filter) { channel in
                            "\(channel.visible("channel") ?? "")  \(channel.number("members") ?? 0) members  "
                                + "\(channel.number("attributes") ?? 0) attributes"
                        })
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a channel with its attributes and a page of its members.",
            discussion: "From PostgreSQL, whose copy of the members is usually less than a second behind.")

        private struct Report: Printable {
            let channel: JSONValue
            let page: Page

            var members: [JSONMember] { page.members + Record(json: channel, line: "").members }

            var lines: [String] {
                ["\(channel.visible("channel") ?? "")  \(channel.number("total") ?? 0) members"]
                    + channel.attributeLines + page.lines
            }
        }

        @Option(help: "The app.")
        var app: AppID

        @Option(help: "The channel: 1 to 128 bytes without control characters.")
        var channel: ChannelName

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.withRecords(of: app) { records in
                    guard let found = try await records.store.channel(ChannelKey(app: app, name: channel)) else {
                        throw Failure.refused("the channel \(channel) of \(app) has neither members nor attributes")
                    }
                    let page = try await records.page(.members, paging, of: channel) { member in
                        "\(member.visible("account") ?? "")  uid \(member.number("uid") ?? 0)  since "
                            + (member.time("joinedAt") ?? "")
                    }
                    output.show(Report(channel: try JSONValue.parse(found.utf8), page: page))
                }
            }
        }
    }
}
