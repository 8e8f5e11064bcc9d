internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl history ...`.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Lists and removes months of the call log.",
        discussion: "The invitation service makes each month at least a month before it begins.",
        subcommands: [List.self, Keep.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the months, the earliest first.")

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let months = try await CallMonths(pool: pool).list().map { MonthOutput($0) }
                    output.show(Listing(name: "months", records: months))
                }
            }
        }
    }

    struct Keep: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes the months whose calls all began longer ago than a time span.",
            discussion:
                "Names the months that it removes. Others are not touched, even if some of their calls are older.")

        @Argument(
            help: "How long calls are kept: 1d...36500d (days), 1w...5214w (weeks) or 1y...100y (years of 365 days).",
            transform: HistoryAge.days)
        var duration: Int

        @Flag(help: "Only name the months.")
        var dryRun = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let months = CallMonths(pool: pool)
                    let old = try await months.list(olderThanDays: duration)
                    let removed = dryRun ? old : try await Keep.remove(old, from: months)
                    output.show(RemovedMonths(isDryRun: dryRun, months: removed))
                }
            }
        }

        /// Removes months, each for itself.
        /// - Returns: those that still existed.
        /// - Throws: ``Failure`` with the names of those that were removed before.
        private static func remove(_ old: [CallMonth], from months: CallMonths) async throws -> [CallMonth] {
            var removed: [CallMonth] = []
            for month in old {
                do throws(PostgresError) {
                    if try await months.remove(month) { removed.append(month) }
                } catch {
                    throw Failure.notRemoved(month.name, error, before: removed.map(\.name))
                }
            }
            return removed
        }
    }
}

/// A time span as the argument of `history keep`.
enum HistoryAge {
    private static let units: [(suffix: String, days: Int)] = [("d", 1), ("w", 7), ("y", 365)]
    private static let bound = 1...36_500

    /// Parses a whole number with a unit.
    /// - Returns: the span in days.
    /// - Throws: `ValidationError` that names the forms and bounds.
    static func days(_ text: String) throws -> Int {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
            case let digits = text.dropLast(), !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int(digits), case let (days, overflow) = number.multipliedReportingOverflow(by: unit.days),
            !overflow, bound.contains(days)
        else {
            throw ValidationError("must be 1d...36500d (days), 1w...5214w (weeks) or 1y...100y (years)")
        }
        return days
    }
}

/// A month of the call log as commands print it.
struct MonthOutput: PrintableRecord {
    private let month: CallMonth

    init(_ month: CallMonth) { self.month = month }

    var members: [JSONMember] {
        var members = [
            JSONMember("bytes", month.bytes),
            JSONMember("name", month.name),
            // In Unix milliseconds.
            JSONMember("until", month.until.milliseconds),
        ]
        if let since = month.since { members.append(JSONMember("since", since.milliseconds)) }
        return members
    }

    var line: String {
        let since = month.since.map { "from \(Output.time(milliseconds: $0.milliseconds)) " } ?? ""
        return "\(month.name)  \(since)until \(Output.time(milliseconds: month.until.milliseconds))  "
            + "\(month.bytes / 1024) KiB"
    }
}

/// What `history keep` has removed, or would remove.
private struct RemovedMonths: Printable {
    let isDryRun: Bool
    let months: [CallMonth]

    var members: [JSONMember] {
        [JSONMember(isDryRun ? "toRemove" : "removed", .array(months.map { MonthOutput($0).json }))]
    }

    var lines: [String] {
        guard !months.isEmpty else { return ["nothing to remove"] }
        return months.map { "\(isDryRun ? "would remove" : "removed") \(MonthOutput($0).line)" }
    }
}
