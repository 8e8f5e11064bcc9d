internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl call ...`.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Lists and shows calls.", subcommands: [List.self, Show.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the calls of an app, the latest first.")

        enum State: String, ExpressibleByArgument, CaseIterable {
            case inviting, ringing, talking, ended
            case notAnswered = "not-answered"

            /// As the call log has it.
            var name: String { rawValue.map { $0 == "-" ? " " : String($0) }.joined() }
        }

        enum Direction: String, ExpressibleByArgument, CaseIterable { case `internal`, outbound, inbound }

        @Option(help: "The app.")
        var app: AppID

        @Option(help: "Only calls in this state.")
        var state: State?

        @Option(help: "Only calls of this account or number.")
        var party: String?

        @Option(help: "Only calls between users, to telephones or from telephones.")
        var direction: Direction?

        @Option(help: "Only calls that began before this time, in Unix milliseconds.")
        var before: Int64?

        @Option(help: "How many at most: 1 to 1000.")
        var limit = 100

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...PageOptions.bound).contains(limit) else {
                throw ValidationError("--limit must be 1...\(PageOptions.bound)")
            }
            guard (party ?? "").utf8.count <= Limits.accountBytes, !(party ?? "").utf8.contains(0) else {
                throw ValidationError("--party may have up to \(Limits.accountBytes) bytes")
            }
            guard (0...9_999_999_999_999).contains(before ?? 0) else {
                throw ValidationError("--before must be 0...9999999999999")
            }
        }

        func run() async throws {
            try await Failure.reported {
                var filter = Directory.CallFilter()
                filter.state = state?.name
                filter.party = party
                filter.direction = direction?.rawValue
                filter.before = before.map { RedisTime(milliseconds: $0) }
                try await Database.withDirectory(of: app) { [filter] directory in
                    let found = try await directory.calls(filter, limit: limit + 1)
                    output.show(
                        Page("calls", found, limit: limit, option: "--before") { "\($0.startedAt.milliseconds)" })
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows the calls with an id, the latest first: as a rule one.")

        @Option(help: "The app.")
        var app: AppID

        @Argument(help: "The call's id, as `call list` shows it: up to 1000 bytes.")
        var id: String

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...1000).contains(id.utf8.count), !id.utf8.contains(0) else {
                throw ValidationError("the id must have 1...1000 bytes")
            }
        }

        func run() async throws {
            try await Failure.reported {
                try await Database.withDirectory(of: app) { directory in
                    let found = try await directory.calls(id: id)
                    guard !found.isEmpty else { throw Failure.refused("there is no call with that id in \(app)") }
                    output.show(Listing(name: "calls", records: found))
                }
            }
        }
    }
}

extension LoggedCall: PrintableRecord {
    var members: [JSONMember] {
        [
            JSONMember("id", id), JSONMember("channel", channel),
            JSONMember("caller", caller), JSONMember("callee", callee),
            JSONMember("direction", direction), JSONMember("state", state),
            JSONMember("startedAt", time: startedAt), JSONMember("acceptedAt", time: acceptedAt),
            JSONMember("endedAt", time: endedAt),
            JSONMember("endCode", endCode),
            JSONMember("sipStatus", sipStatus),
        ]
    }

    var line: String {
        let talk = endedAt.flatMap { end in
            acceptedAt.map { "  talked \((end.milliseconds - $0.milliseconds) / 1000) s" }
        }
        let parts = [
            "\(id)  \(Output.time(milliseconds: startedAt.milliseconds))",
            "\(caller.visible) -> \(callee.visible) in \(channel.visible)  \(direction)  \(state)",
            endCode.map { "code \($0)" }, sipStatus.map { "SIP \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ") + (talk ?? "")
    }
}
