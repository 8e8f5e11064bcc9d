internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl retention ...`.
struct RetentionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention", abstract: "Shows and sets for how long histories are kept.",
        discussion: """
            The histories are `attributes` (what attributes of users and channels were, by day), `audit` (who did what to \
            whom, by month) and `calls` (the call log, by month). The invitation service removes what is past every ten minutes; `apply` does it at once.
            """,
        subcommands: [Show.self, Set.self, Apply.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows how long each history is kept, and its size.")

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let histories = try await Histories(pool: pool).list().map { HistoryOutput($0) }
                    output.show(Listing(name: "histories", records: histories))
                }
            }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets how long a history is kept.", discussion: "Removes nothing by itself; see `apply`.")

        @Argument(help: "attributes, audit or calls.")
        var history: String

        @Argument(
            help: """
                1d...36500d (days), 1w...5214w (weeks), 1y...100y (years); `off`: nothing is written (attributes only); \
                `default`: attributes 30d, audit 400d, calls as HELIOGRAPH_CALLS_KEPT_DAYS of the invitation service says.
                """,
            transform: KeptTime.init)
        var time: KeptTime

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                guard history == "attributes" || time.days != 0 else {
                    let name = history == "calls" ? "calls are" : "\(history) is"
                    throw Failure.refused("\(name) always written: give a time span, or `default`")
                }
                try await Database.with { pool in
                    let histories = Histories(pool: pool)
                    guard try await histories.keep(history, days: time.days) else {
                        throw Failure.refused("there is no history \(history): there are attributes, audit and calls")
                    }
                    let changed = try await histories.list().filter { $0.name == history }.map { HistoryOutput($0) }
                    output.show(Listing(name: "histories", records: changed))
                }
            }
        }
    }

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes the days and months of which nothing is to be kept, and names them.")

        @Flag(help: "Only name them.")
        var dryRun = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let histories = Histories(pool: pool)
                    if !dryRun { _ = try await histories.makeDays() }
                    let past = try await histories.past()
                    let removed = dryRun ? past : try await Apply.remove(past, from: histories)
                    output.show(RemovedParts(isDryRun: dryRun, parts: removed))
                }
            }
        }

        /// Removes days and months, each for itself.
        /// - Returns: those that still existed.
        /// - Throws: ``Failure`` with the names of those that were removed before.
        private static func remove(_ past: [HistoryPart], from histories: Histories) async throws -> [HistoryPart] {
            var removed: [HistoryPart] = []
            for part in past {
                do throws(PostgresError) {
                    if try await histories.remove(part) { removed.append(part) }
                } catch {
                    throw Failure.notRemoved(part.name, error, before: removed.map(\.name))
                }
            }
            return removed
        }
    }
}

extension Failure {
    /// A part of a history could not be removed.
    /// - Parameter before: the parts that the command has removed already.
    static func notRemoved(_ name: String, _ error: PostgresError, before: [String]) -> Failure {
        var failure = Failure(error)
        if error.isLockConflict { failure.message = "a transaction has been using it for a second" }
        let removed = before.isEmpty ? "none" : before.joined(separator: ", ")
        failure.message = "\(name) was not removed: \(failure.message); removed before: \(removed)"
        return failure
    }
}

/// How long a history is to be kept, as an argument.
struct KeptTime {
    /// 0: nothing is written; nil: the default.
    let days: Int?

    /// Parses a time span, `off` or `default`.
    /// - Throws: `ValidationError` that names the forms and bounds.
    init(_ text: String) throws {
        switch text {
        case "off": days = 0
        case "default": days = nil
        default: days = try HistoryAge.days(text)
        }
    }
}

/// A history as commands print it.
private struct HistoryOutput: PrintableRecord {
    private let history: History

    init(_ history: History) { self.history = history }

    var members: [JSONMember] {
        var members = [
            JSONMember("bytes", history.bytes),
            JSONMember("dividedBy", history.dividedBy),
            JSONMember("name", history.name),
            JSONMember("parts", history.parts),
        ]
        // Absent: the invitation service's setting decides.
        if let days = history.keptDays { members.append(JSONMember("keptDays", days)) }
        return members
    }

    var line: String {
        let kept =
            switch history.keptDays {
            case .none: "kept as HELIOGRAPH_CALLS_KEPT_DAYS says"
            case .some(0): "not written"
            case .some(let days): "kept for \(days) days"
            }
        return "\(history.name)  \(kept)  by \(history.dividedBy)  \(history.parts) tables  \(history.bytes / 1024) KiB"
    }
}

/// What `retention apply` has removed, or would remove.
private struct RemovedParts: Printable {
    let isDryRun: Bool
    let parts: [HistoryPart]

    var members: [JSONMember] {
        let removed = parts.map { part in
            JSONValue.object([
                JSONMember("bytes", part.bytes), JSONMember("history", part.history),
                JSONMember("name", part.name), JSONMember("until", part.until.milliseconds),
            ])
        }
        return [JSONMember(isDryRun ? "toRemove" : "removed", .array(removed))]
    }

    var lines: [String] {
        guard !parts.isEmpty else { return ["nothing to remove"] }
        return parts.map { part in
            "\(isDryRun ? "would remove" : "removed") \(part.name)  "
                + "until \(Output.time(milliseconds: part.until.milliseconds))  \(part.bytes / 1024) KiB"
        }
    }
}
