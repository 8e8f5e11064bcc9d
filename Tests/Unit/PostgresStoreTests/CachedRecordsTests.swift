import PostgresStore
import Synchronization
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

    /// A clock that stands still until it is moved.
    private final class Hand: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func move(_ by: Duration) { time.withLock { $0 += by } }
    }

    @Test func aRecordIsNotUsedBeyondItsAgeDuringAnOutage() async throws {
        let (source, hand) = (Source(), Hand())
        let records = CachedRecords<String, Int>(
            usableFor: .seconds(5), now: { hand.now },
            query: { _ async throws(PostgresError) in try await source.ask().get() })
        #expect(try await records.find("a") == 7)
        await source.set(.failure(PostgresError(.closed, "away")))
        hand.move(.milliseconds(4999))
        #expect(try await records.find("a") == 7)
        hand.move(.milliseconds(1))
        await #expect(throws: PostgresError(.closed, "away")) { try await records.find("a") }
        await source.set(.success(8))
        #expect(try await records.find("a") == 8)
    }

    @Test func anAnswerIsAsOldAsItsQuestion() async throws {
        let (source, hand) = (Source(), Hand())
        let records = CachedRecords<String, Int>(
            usableFor: .seconds(5), now: { hand.now },
            query: { _ async throws(PostgresError) in
                let answer = await source.ask()
                hand.move(.milliseconds(900))
                return try answer.get()
            })
        _ = try await records.find("a")
        #expect(await source.count == 1)
        hand.move(.milliseconds(99))
        _ = try await records.find("a")
        #expect(await source.count == 1)
        hand.move(.milliseconds(1))
        _ = try await records.find("a")
        #expect(await source.count == 2)
    }
}
