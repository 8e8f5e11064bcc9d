import Testing

@testable import PostgresStore

@Suite struct PostgresRowsTests {
    private let rows = PostgresRows(
        columns: ["id", "name", "flag"], cells: ["1", "a", "t", "x", nil, "?"], rowCount: 2, affected: 2)

    @Test func values() throws {
        #expect(rows.count == 2)
        #expect(try rows[0].int64("id") == 1)
        #expect(try rows[0].string("name") == "a")
        #expect(try rows[0].bool("flag"))
        #expect(try rows[1].optionalString("name") == nil)
        #expect(try rows[1].optionalInt64("name") == nil)
    }

    @Test func wrongShapes() {
        for read: (PostgresRow) throws -> Void in [
            { _ = try $0.int64("id") }, { _ = try $0.string("name") }, { _ = try $0.bool("flag") },
            { _ = try $0.string("none") }, { _ = try $0.int64("name") },
        ] {
            let error = #expect(throws: PostgresError.self) { try read(rows[1]) }
            #expect(error?.kind == .shape)
        }
    }
}
