import SignalingProtocol
import Testing

@testable import PostgresStore

@Suite struct PostgresErrorTests {
    @Test(arguments: [
        (PostgresError(.closed, "gone"), "unavailable"), (PostgresError(.timeout, "late"), "unavailable"),
        (PostgresError(.full, "10 wait"), "overloaded"),
        (PostgresError(sqlState: "57014", message: "canceled"), "unavailable"),
        (PostgresError(sqlState: "57P01", message: "shutdown"), "unavailable"),
        (PostgresError(sqlState: "23505", message: "duplicate"), "refused_by_postgres"),
        (PostgresError(sqlState: "40P01", message: "deadlock"), "unavailable"),
        (PostgresError(sqlState: "25006", message: "read-only transaction"), "unavailable"),
    ])
    func whatAClientIsTold(error: PostgresError, reason: String) {
        #expect(error.signaling.reason.rawValue == reason)
        #expect(error.signaling.code == .failed)
    }

    @Test func anAnswerFailsWithWhatTheClientIsTold() async throws {
        let gone = PostgresError(.closed, "gone")
        let refusal = SignalingError(.failed, .tooManyBans, "refused")
        #expect(try await answerOfPostgres { () throws(PostgresError) in 7 } == 7)
        await #expect(throws: SignalingError.unavailable("postgres")) {
            try await answerOfPostgres { () throws(PostgresError) in throw gone }
        }
        await #expect(throws: refusal) {
            try await answerOfPostgres(or: { _ in refusal }, { () throws(PostgresError) in throw gone })
        }
    }

    @Test func kinds() {
        #expect(PostgresError(sqlState: "23505", message: "").isDuplicate)
        #expect(PostgresError(sqlState: "22001", message: "").isDataError)
        #expect(!PostgresError(.closed, "").isDataError)
        #expect(PostgresError(.closed, "gone").description == "postgres CLOSED: gone")
    }

    @Test func aServerThatTakesNoWritesIsLeft() {
        let readOnly = PostgresError(sqlState: "25006", message: "read-only transaction")
        #expect(readOnly.endsConnection && readOnly.leavesHost)
        let silent = PostgresError(.timeout, "no answer")
        #expect(silent.endsConnection && silent.leavesHost)
        // A restart: the same host is tried first.
        let shutdown = PostgresError(sqlState: "57P01", message: "shutdown")
        #expect(shutdown.endsConnection && !shutdown.leavesHost)
        #expect(!PostgresError(sqlState: "23505", message: "duplicate").endsConnection)
    }

    @Test(arguments: ["", "mysql://x", "postgresql://%zz", "postgresql://a\0b", "host=1"])
    func badURLs(url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        #expect(error?.kind == .configuration)
    }

    @Test func badURLsAreNotQuoted() {
        let error = #expect(throws: PostgresError.self) {
            try PostgresConfiguration(url: "postgresql://u:secret@h/%zz")
        }
        #expect(error?.message.contains("secret") == false)
    }
}
