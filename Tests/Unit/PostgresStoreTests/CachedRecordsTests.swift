import PostgresStore
import Testing

@Suite struct CachedRecordsTests {
    private actor Source {
        var answer: Result<Int?, PostgresError> = .success(7)
        var count = 0

        func set(_ answer: Result<Int?, PostgresError>) { self.answer = answer }

        func ask() -> Result<Int?, PostgresError> {
            count += 1
            return answer
        }
    }

    @Test func oneQueryASecondAndTheLastRecordDuringAnOutage() async throws {
        let source = Source()
        let records = CachedRecords<String, Int> { _ async throws(PostgresError) in try await source.ask().get() }
        #expect(try await records.find("a") == 7)
        #expect(try await records.find("a") == 7)
        #expect(await source.count == 1)
        await source.set(.failure(PostgresError(.closed, "away")))
        let end = ContinuousClock.now + .seconds(10)
        while await source.count == 1, ContinuousClock.now < end {
            #expect(try await records.find("a") == 7)
            await Task.yield()
        }
        #expect(await source.count > 1)
        await #expect(throws: PostgresError.self) { try await records.find("b") }
    }
}
