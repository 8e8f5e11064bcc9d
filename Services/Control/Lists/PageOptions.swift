internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// Which page of a list to show.
struct PageOptions: ParsableArguments {
    /// The largest page.
    static let bound = 1000

    @Option(help: "How many at most: 1 to 1000.")
    var limit = 100

    @Option(help: "Begin after this name, the last one of the page before.")
    var after = ""

    @Option(help: "Only names that begin with this.")
    var prefix = ""

    func validate() throws {
        guard (1...Self.bound).contains(limit) else { throw ValidationError("--limit must be 1...\(Self.bound)") }
        for (name, value) in [("--after", after), ("--prefix", prefix)]
        where value.utf8.count > Limits.accountBytes || value.utf8.contains(0) {
            throw ValidationError("\(name) may have up to \(Limits.accountBytes) bytes")
        }
    }

    /// The page, with one name more, by which one sees whether there is another page.
    var page: NamePage { NamePage(after: after, prefix: prefix, limit: limit + 1) }
}

/// A page of records, and where the next one begins.
struct Page<Record: PrintableRecord>: Printable {
    /// What the records are called: the list's name in JSON.
    let name: String
    let records: [Record]
    /// What to give to `option` for the next page; nil on the last one.
    let next: String?
    /// The option that takes it.
    let option: String

    /// - Parameters:
    ///   - found: the records of the page, and one more if there is another page.
    ///   - position: what to give to `option` for the page after this record.
    init(
        _ name: String, _ found: [Record], limit: Int, option: String = "--after", position: (Record) -> String
    ) {
        self.name = name
        self.option = option
        records = Array(found.prefix(limit))
        next = found.count > limit ? records.last.map(position) : nil
    }

    var members: [JSONMember] {
        [
            JSONMember(name, .array(records.map(\.json))), JSONMember("next", next),
        ]
    }

    var lines: [String] {
        guard !records.isEmpty else { return ["no \(name)"] }
        return records.map(\.line) + (next.map { ["more: \(option) '\($0)'"] } ?? [])
    }
}

extension Database {
    /// Calls `body` with what operators ask about an app.
    /// - Throws: ``Failure`` when there is no such app.
    static func withDirectory(of app: AppID, _ body: (Directory) async throws -> Void) async throws {
        try await with { pool in
            let directory = Directory(pool: pool, app: app)
            guard try await directory.exists() else { throw AppCommand.unknown(app) }
            try await body(directory)
        }
    }
}

extension JSONMember {
    /// A member with a time in Unix milliseconds, or null.
    init(_ name: String, time: RedisTime?) {
        self.init(name, time?.milliseconds)
    }
}
