internal import PostgresStore

/// The table of contents of a dump, as `pg_restore --list` prints it.
struct DumpContents {
    /// The lines of Heliograph's own objects; of the other schemas, pg_restore takes none.
    private(set) var entries: [Substring] = []
    /// The tables, views and sequences in the schema that are not Heliograph's, as older releases have saved them.
    private(set) var foreign: [String] = []
    /// Whether the schema has Heliograph's tables.
    private(set) var hasTables = false

    private static let relations = ["TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "FOREIGN TABLE"]
    private static let others = [
        "FUNCTION", "PROCEDURE", "AGGREGATE", "TYPE", "DOMAIN", "SHELL TYPE", "COLLATION", "OPERATOR", "CONVERSION",
        "TEXT SEARCH CONFIGURATION", "TEXT SEARCH DICTIONARY",
    ]

    /// Reads the lines.
    /// - Parameter schema: Heliograph's.
    init(_ lines: [Substring], schema: String) {
        // `218; 1259 16418 TABLE public p1 postgres`
        let found = lines.filter { !$0.hasPrefix(";") }.map { line in
            (line: line, words: line.split(separator: " ", maxSplits: 3).last ?? "")
        }
        let partitions = Set(
            found.compactMap { Self.name(in: $0.words, after: ["TABLE ATTACH"], schema) })
        for (line, words) in found {
            if let name = Self.name(in: words, after: Self.relations, schema) {
                hasTables = hasTables || name == DatabaseContents.bookkeeping
                if !DatabaseContents.names.contains(name), !partitions.contains(name) { foreign.append(name) }
            }
            let comments = Self.others.map { "COMMENT \(schema) \($0)" }
            if let name = Self.name(in: words, after: Self.others, schema) ?? Self.name(in: words, after: comments) {
                guard DatabaseContents.names.contains(name) else { continue }
            }
            entries.append(line)
        }
    }

    /// Leaves out the rows of a table.
    mutating func leaveOutRows(of table: String, schema: String) {
        entries.removeAll { $0.contains(" TABLE DATA \(schema) \(table) ") }
    }

    /// The name in an entry of one of some kinds; nil for entries of other kinds.
    private static func name(in words: Substring, after kinds: [String], _ schema: String? = nil) -> String? {
        for kind in kinds {
            let start = schema.map { "\(kind) \($0) " } ?? "\(kind) "
            if words.hasPrefix(start) { return String(words.dropFirst(start.count).prefix { $0 != " " && $0 != "(" }) }
        }
        return nil
    }
}
