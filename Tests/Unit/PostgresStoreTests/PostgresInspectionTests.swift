import Testing

@testable import PostgresStore

@Suite struct PostgresInspectionTests {
    private static func primary(_ name: String = "db1", _ change: (inout PostgresServerState) -> Void = { _ in })
        -> PostgresServerState
    {
        var state = PostgresServerState(name: name, role: .primary)
        (state.synchronousNames, state.followers, state.synchronousFollowers) = ("ANY 1 (*)", 1, 1)
        change(&state)
        return state
    }

    private static let standby = PostgresServerState(name: "db2", role: .standby)

    @Test func nothingIsSaidOfAPairThatIsWell() {
        let inspection = PostgresInspection(of: [Self.primary(), Self.standby])
        #expect(inspection.wrong == [] && inspection.advice == [])
        // A single server has no standby, and needs none.
        let single = PostgresInspection(of: [PostgresServerState(name: "db1", role: .primary)])
        #expect(single.wrong == [] && single.advice == [])
    }

    @Test(arguments: [
        (
            [primary(), primary("db2")],
            "db1 and db2 are primaries: stop the one that was replaced, and let it follow the other"
        ),
        ([standby], "no server is a primary: promote a standby"),
        ([primary(), PostgresServerState(name: "db2", role: .silent("refused"))], "db2 does not answer: refused"),
        (
            [primary { $0.isReadOnly = true }],
            "db1 takes no writes: default_transaction_read_only is on; turn it off, or promote another"
        ),
        (
            [
                primary {
                    $0.synchronousNames = ""; $0.followers = 0
                }, standby,
            ], "no standby follows db1: start it, or make it anew with pg_basebackup"
        ),
        (
            [primary { $0.synchronousFollowers = 0 }, standby],
            "db1 waits for a standby at each commit (synchronous_standby_names), and none is connected: start one, or "
                + "empty the setting"
        ),
    ])
    func whatIsWrongIsSaid(of servers: [PostgresServerState], _ line: String) {
        #expect(PostgresInspection(of: servers).wrong == [line])
    }

    @Test func adviceIsGiven() {
        var inspection = PostgresInspection(of: [
            Self.primary {
                $0.synchronousNames = ""
                $0.lag = 200 << 20
            }, Self.standby,
        ])
        inspection.judgeCallLog(nextMonthIsMissing: true, waiting: 3)
        #expect(inspection.wrong == [])
        #expect(
            inspection.advice == [
                "db1 waits for no standby (synchronous_standby_names is empty): changes of the last moment before a "
                    + "failover are lost",
                "a standby of db1 is 200 MiB behind: see what holds it up (pg_stat_replication)",
                "the call log's next month is not made: does an invitation service run, and does its user own the "
                    + "table calls?",
                "3 calls are in no month (calls_rest)",
            ])
        inspection.judgeCallLog(nextMonthIsMissing: false, waiting: 0)
        #expect(inspection.advice.count == 4)
    }
}
