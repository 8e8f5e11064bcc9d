internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// Which page of a list to show.
struct PageOptions: ParsableArguments {
    /// The largest page.
    static let bound = 1000
    /// The longest position of a page: that of a call is its start and its id.
    private static let positionBytes = 1024

    @Option(help: "How many at most: 1 to 1000.")
    var limit = 100

    @Option(help: "Begin after this: the `next` of the page before.")
    var after = ""

    @Option(help: "Only names that begin with this.")
    var prefix = ""

    /// The first page, of so many records.
    static func first(_ limit: Int) throws -> PageOptions { try parse(["--limit", String(limit)]) }

    func validate() throws {
        guard (1...Self.bound).contains(limit) else { throw ValidationError("--limit must be 1...\(Self.bound)") }
        for (name, value, bytes) in [("--after", after, Self.positionBytes), ("--prefix", prefix, Limits.accountBytes)]
        where value.utf8.count > bytes || value.utf8.contains(0) {
            throw ValidationError("\(name) may have up to \(bytes) bytes")
        }
    }
}

/// What operators ask about an app, or all: lists in the server API's words and units, read from PostgreSQL at once.
struct AppRecords {
    let store: RecordListStore
    /// Nil: about all apps.
    let app: AppID?

    /// A page of a list.
    /// - Parameters:
    ///   - channel: of a list of members.
    ///   - line: a record for people.
    func page(
        _ list: ListRecords.List, _ paging: PageOptions, of channel: ChannelName? = nil,
        matching filter: RecordFilter = RecordFilter(), line: @escaping (JSONValue) -> String
    ) async throws -> Page {
        let found = try await store.page(
            ListRecords(
                list, app: app, channel: channel, prefix: paging.prefix, after: paging.after, limit: paging.limit),
            matching: filter)
        guard case .array(let records) = try JSONValue.parse(found.records.utf8) else {
            throw Failure.refused("PostgreSQL's list is no list")
        }
        return Page(name: list.records, records: records.map { Record(json: $0, line: line($0)) }, next: found.next)
    }
}

extension ListRecords.List {
    /// What its records are called: the list's name in JSON.
    fileprivate var records: String {
        switch self {
        case .users, .online: "users"
        case .calls, .open: "calls"
        case .audit: "entries"
        case .apps, .channels, .members, .bans, .usage, .webhooks, .webhook, .trunks, .hooks, .keys: rawValue
        }
    }
}

/// A record as PostgreSQL writes it.
struct Record: PrintableRecord {
    let json: JSONValue
    let line: String

    var members: [JSONMember] {
        guard case .object(let members) = json else { return [] }
        return members
    }
}

/// A page of records, and where the next one begins.
struct Page: Printable {
    /// What the records are called: the list's name in JSON.
    let name: String
    let records: [Record]
    /// What to give to `--after` for the next page; nil on the last one.
    let next: String?

    var members: [JSONMember] {
        [JSONMember(name, .array(records.map(\.json))), JSONMember("next", next)]
    }

    var lines: [String] {
        guard !records.isEmpty else { return ["no \(name)"] }
        return records.map(\.line) + (next.map { ["more: --after '\($0)'"] } ?? [])
    }
}

extension Database {
    /// Calls `body` with what operators ask about an app.
    /// - Throws: ``Failure`` when there is no such app.
    static func withRecords(of app: AppID, _ body: (AppRecords) async throws -> Void) async throws {
        try await with { pool in
            guard try await AppStore(pool: pool).find(app) != nil else { throw AppCommand.unknown(app) }
            try await body(AppRecords(store: RecordListStore(pool: pool), app: app))
        }
    }
}

/// What lines for people need of a record.
extension JSONValue {
    /// A member that is a text, without what would do something to a terminal; nil for others.
    func visible(_ name: String) -> String? { self[name]?.string?.visible }

    /// A member that is a number; nil for others.
    func number(_ name: String) -> Int64? { self[name]?.integer }

    /// A member that is a time in Unix seconds; nil for others.
    func time(_ name: String) -> String? { number(name).map { Output.time(milliseconds: $0 * 1000) } }
}
