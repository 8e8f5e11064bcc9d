import Testing

@testable import PostgresStore

@Suite struct HostOrderTests {
    @Test func theHostThatAnsweredLastIsFirst() {
        var order = HostOrder(count: 3)
        #expect(order.indices == [0, 1, 2])
        order.succeeded(2)
        #expect(order.indices == [2, 0, 1])
    }

    @Test func aHostThatFailedIsLast() {
        var order = HostOrder(count: 3)
        order.failed(0)
        #expect(order.indices == [1, 2, 0])
        // Another connection tells of the same host, or of one that is not first anyway.
        order.failed(0)
        order.failed(2)
        #expect(order.indices == [1, 2, 0])
        order.failed(1)
        order.failed(2)
        #expect(order.indices == [0, 1, 2])
    }

    @Test func aSingleHostStays() {
        var order = HostOrder(count: 1)
        order.failed(0)
        #expect(order.indices == [0])
    }

    private let down = PostgresError(.closed, "refused")
    private let late = PostgresError(.timeout, "no answer")

    private func failure(_ errors: PostgresError..., hosts: Int) -> PostgresError {
        var attempts = HostAttempts(Array(0..<hosts))
        for error in errors {
            _ = attempts.next()
            attempts.failed(error)
        }
        return attempts.failure
    }

    @Test func everyHostIsTriedOnce() {
        var attempts = HostAttempts([1, 2, 0])
        let tried = (0..<4).map { _ in attempts.next() }
        #expect(tried == [1, 2, 0, nil])
    }

    @Test func onlyAnAttemptThatFoundNothingButStandbysIsRefused() {
        #expect(failure(.standby, hosts: 1) == .standby)
        #expect(failure(.standby, .standby, hosts: 2) == .onlyStandbys)
        // The other one may be the primary.
        #expect(failure(.standby, down, hosts: 2) == down)
        #expect(failure(late, .standby, hosts: 2) == late)
        #expect(failure(.standby, hosts: 2).kind == .closed)
    }

    @Test func otherwiseTheLastErrorCounts() {
        #expect(failure(down, late, hosts: 2) == late)
        let password = failure(PostgresError(sqlState: "28P01", message: "wrong password"), hosts: 1)
        #expect(password.kind == .closed && password.message == "postgres 28P01: wrong password")
        #expect(failure(hosts: 2).kind == .timeout)
    }
}
