internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl app usage`.
struct UsageCommand: AsyncParsableCommand {
    /// The days that can be asked for.
    private static let bound = 366

    static let configuration = CommandConfiguration(
        commandName: "usage", abstract: "Shows what an app used on each day (UTC).",
        discussion: "Gateways report messages every 10 s, and the users who are there are counted every minute.")

    /// What an app has, with a record for each day.
    private struct Report: Printable {
        let usage: JSONValue

        var members: [JSONMember] { Record(json: usage, line: "").members }

        var lines: [String] {
            guard case .array(let days)? = usage["days"], !days.isEmpty else { return ["nothing was used"] }
            return days.map { day in
                let calls = "\(day.number("calls") ?? 0) calls of \(Self.minutes(day.number("callSeconds")))"
                let ofPhones = Self.minutes(day.number("phoneCallSeconds"))
                return [
                    day.visible("day") ?? "", "\(day.number("logins") ?? 0) logins",
                    "\(day.number("peakUsers") ?? 0) users at once", "\(day.number("messages") ?? 0) messages",
                    "\(day.number("deliveries") ?? 0) deliveries", calls,
                    "\(day.number("phoneCalls") ?? 0) with telephones of \(ofPhones)",
                ].joined(separator: "  ")
            }
        }

        private static func minutes(_ seconds: Int64?) -> String { "\((seconds ?? 0) / 60) min" }
    }

    @Argument(help: "The app.")
    var id: AppID

    @Option(help: "Days up to now: 1 to 366.")
    var days = 30

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...Self.bound).contains(days) else { throw ValidationError("--days must be 1...\(Self.bound)") }
    }

    func run() async throws {
        try await Failure.reported {
            try await Database.withRecords(of: id) { records in
                let found = try await records.page(.usage, try PageOptions.first(days)) { _ in "" }
                guard let usage = found.records.first else { throw AppCommand.unknown(id) }
                output.show(Report(usage: usage.json))
            }
        }
    }
}
