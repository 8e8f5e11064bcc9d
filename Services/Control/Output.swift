internal import Glibc
internal import SignalingWire

/// What a command prints.
protocol Printable {
    /// The members of the JSON object for scripts, in any order: it is printed with the names sorted.
    var members: [JSONMember] { get }
    /// The lines of text for people.
    var lines: [String] { get }
}

/// One record of a listing, such as an app.
protocol PrintableRecord: Printable {
    /// The record as one line of text.
    var line: String { get }
}

extension PrintableRecord {
    var lines: [String] { [line] }
}

extension Printable {
    /// The JSON object.
    var json: JSONValue { .object(members.sorted { $0.name < $1.name }) }
}

/// The records of a kind.
struct Listing<Record: PrintableRecord>: Printable {
    /// What the records are called: the list's name in JSON. `no` and the name are printed where there are none.
    let name: String
    let records: [Record]

    var members: [JSONMember] { [JSONMember(name, .array(records.map(\.json)))] }
    var lines: [String] { records.isEmpty ? ["no \(name)"] : records.map(\.line) }
}

/// What a command has done to one thing.
struct Outcome: Printable {
    /// What was done, such as `removed`: the name of the object's only member.
    let deed: String
    /// The app, number or account that it was done to.
    let subject: String
    /// The same for people.
    let line: String

    var members: [JSONMember] { [JSONMember(deed, subject)] }
    var lines: [String] { [line] }
}

/// Prints the results of commands.
enum Output {
    /// Formats a time as `2026-01-31T12:00:00Z`.
    static func time(milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension OutputOptions {
    /// Prints a result as text or, where the user asked for it, as JSON.
    func show(_ result: some Printable) {
        if json { return print(result.json.compactText) }
        for line in result.lines { print(line) }
    }
}
