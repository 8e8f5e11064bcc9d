internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl audit`.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Lists who did what to whom, the latest first.",
        discussion: """
            Bans and lifted bans, disconnects, tokens that were made or revoked, and changes of keys, apps, limits, trunks, \
            numbers, webhooks, hooks and retention: by a key of the server API, by heliographctl, or by a statement in the \
            database. Kept for 400 days (`retention set audit`); a removed app's entries stay.
            """)

    @Option(help: "Only what concerns this app; it may have been removed since.")
    var app: AppID?

    @OptionGroup var paging: PageOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard paging.prefix.isEmpty else { throw ValidationError("entries have no names: --prefix is for names") }
    }

    func run() async throws {
        try await Failure.reported {
            try await Database.with { pool in
                let records = AppRecords(store: RecordListStore(pool: pool), app: app)
                output.show(try await records.page(.audit, paging, line: Self.line))
            }
        }
    }

    private static func line(_ entry: JSONValue) -> String {
        var details: String?
        if let found = entry["details"], case .object(let members) = found, !members.isEmpty {
            details = found.compactText.visible
        }
        let (app, subject) = (entry.visible("app"), entry.visible("subject"))
        let parts = [
            entry.time("at"), entry.visible("act"), app, subject == app ? nil : subject,
            "by \(entry.visible("by") ?? "") \(entry.visible("name") ?? "unknown")", details,
            entry.visible("requestId").map { "request \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }
}
