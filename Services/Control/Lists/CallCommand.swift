internal import ArgumentParser
internal import BusProtocol
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

        @Option(help: "Only calls that began before this time, in Unix seconds.")
        var before: Int64?

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (party ?? "").utf8.count <= Limits.accountBytes, !(party ?? "").utf8.contains(0) else {
                throw ValidationError("--party may have up to \(Limits.accountBytes) bytes")
            }
            guard (0...9_999_999_999).contains(before ?? 0) else {
                throw ValidationError("--before must be 0...9999999999")
            }
            guard paging.prefix.isEmpty else { throw ValidationError("calls have no names: --prefix is for names") }
        }

        func run() async throws {
            try await Failure.reported {
                var filter = RecordFilter()
                (filter.state, filter.party) = (state?.name, party)
                (filter.direction, filter.before) = (direction?.rawValue, before)
                try await Database.withRecords(of: app) { [filter] records in
                    output.show(
                        try await records.page(.calls, paging, matching: filter, line: CallCommand.line))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows the calls with an id, the latest first: as a rule one.")

        /// Ids may repeat after a long time.
        private static let bound = 10

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
                var filter = RecordFilter()
                filter.id = id
                try await Database.withRecords(of: app) { [filter] records in
                    let found = try await records.page(
                        .calls, try PageOptions.first(Self.bound), matching: filter, line: CallCommand.line)
                    guard !found.records.isEmpty else {
                        throw Failure.refused("there is no call with that id in \(app)")
                    }
                    output.show(Listing(name: "calls", records: found.records))
                }
            }
        }
    }

    private static func line(_ call: JSONValue) -> String {
        var talk: String?
        if let seconds = call.number("talkSeconds"), call["endedAt"] != .null { talk = "talked \(seconds) s" }
        let parts = [
            "\(call.visible("id") ?? "")  \(call.time("startedAt") ?? "")",
            "\(call.visible("caller") ?? "") -> \(call.visible("callee") ?? "") in \(call.visible("channel") ?? "")  "
                + "\(call.visible("direction") ?? "")  \(call.visible("state") ?? "")",
            call.number("endCode").map { "code \($0)" }, call.number("sipStatus").map { "SIP \($0)" }, talk,
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}
