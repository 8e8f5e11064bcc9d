/// The result of a query: rows of named columns, each value in PostgreSQL's text format.
package struct PostgresRows: RandomAccessCollection, Sendable {
    /// The columns' names, left to right.
    package let columns: [String]
    /// The number of rows that a statement without a result inserted, changed or deleted.
    package let affected: Int
    private let cells: [String?]
    private let rowCount: Int

    init(columns: [String], cells: [String?], rowCount: Int, affected: Int) {
        self.columns = columns
        self.cells = cells
        self.rowCount = rowCount
        self.affected = affected
    }

    package var startIndex: Int { 0 }

    package var endIndex: Int { rowCount }

    package subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < rowCount, "row \(position) of \(rowCount)")
        let start = position * columns.count
        return PostgresRow(columns: columns, cells: cells[start..<start + columns.count])
    }
}

/// One row of a result.
package struct PostgresRow: Sendable {
    let columns: [String]
    let cells: ArraySlice<String?>

    /// A column's text; nil for NULL.
    /// - Throws: ``PostgresError/Kind/shape`` when there is no such column.
    package func optionalString(_ column: String) throws(PostgresError) -> String? {
        guard let index = columns.firstIndex(of: column) else {
            throw PostgresError(.shape, "the result has no column \(column)")
        }
        return cells[cells.startIndex + index]
    }

    /// A column's text.
    /// - Throws: ``PostgresError/Kind/shape`` when there is no such column or it is NULL.
    package func string(_ column: String) throws(PostgresError) -> String {
        guard let text = try optionalString(column) else { throw PostgresError(.shape, "\(column) is NULL") }
        return text
    }

    /// A column's integer; nil for NULL.
    /// - Throws: ``PostgresError/Kind/shape`` when there is no such column or it is not an integer.
    package func optionalInt64(_ column: String) throws(PostgresError) -> Int64? {
        guard let text = try optionalString(column) else { return nil }
        guard let number = Int64(text) else { throw PostgresError(.shape, "\(column) is not an integer") }
        return number
    }

    /// A column's integer.
    /// - Throws: ``PostgresError/Kind/shape`` when there is no such column, it is NULL or not an integer.
    package func int64(_ column: String) throws(PostgresError) -> Int64 {
        guard let number = try optionalInt64(column) else { throw PostgresError(.shape, "\(column) is NULL") }
        return number
    }

    /// A column's boolean.
    /// - Throws: ``PostgresError/Kind/shape`` when there is no such column, it is NULL or not a boolean.
    package func bool(_ column: String) throws(PostgresError) -> Bool {
        switch try string(column) {
        case "t": return true
        case "f": return false
        default: throw PostgresError(.shape, "\(column) is not a boolean")
        }
    }
}
