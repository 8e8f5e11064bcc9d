import Testing

@testable import RedisClient

/// Redis with Sentinel: one master at a time.
@Suite struct OneMasterTests {
    /// All commands keep one order, whatever their slots.
    @Test func outageOfTheMaster() {
        let conversation = Conversation(.sentinel)
        conversation.play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            submit a 1 -> send a A
            submit b 9000 repeatable for 8000 -> send b A
            submit c 2 repeatable for 8000 -> send c A
            down A
            lost a -> fail a CLOSED
            lost b
            lost c
            submit d 4 -> hold
            submit e 5 -> hold
            up A -> send b A
            ok b -> send c A; send d A; send e A
            """)
        #expect(conversation.keepsOrder(of: [1, 9000]))
    }

    @Test func sentinelsNameAnotherMaster() {
        let conversation = Conversation(.sentinel, seeds: ["s", "t"])
        conversation.play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            at 250 -> read seed s
            map A 0-16383
            submit a 5 -> send a A
            submit b 9000 repeatable -> send b A
            switch B -> open B; drop A; moved 0-16383
            lost a -> fail a CLOSED
            lost b
            submit c 7 -> hold
            up B -> send b B
            ok b -> send c B
            """)
    }

    /// Nobody hears of the switch: the old master says that it is none, and the Sentinels are asked.
    @Test func aMasterThatIsNoneAnyMore() {
        Conversation(.sentinel, seeds: ["s", "t"]).play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            at 250 -> read seed s
            map A 0-16383
            at 1000
            submit a 5 -> send a A
            submit b 9000 -> send b A
            error a A READONLY x
            error b A READONLY x
            at 1005 -> read seed s
            map B 0-16383 -> open B; drop A; moved 0-16383
            up B -> send a B
            ok a -> send b B
            """)
    }

    @Test func aClusterBehindSentinelsIsAMistake() {
        Conversation(.sentinel).play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            submit a 5 -> send a A
            error a A MOVED 5 b:1 -> fail a MOVED
            """)
    }

    /// The master of before takes writes, which are lost, until Sentinel has made it a replica. So nothing is sent to
    /// it any more once the failover begins.
    @Test func commandsWaitForTheEndOfAFailover() {
        Conversation(.sentinel).play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            submit a 1 -> send a A
            failover
            submit b 9000 -> hold
            ok a
            switch B -> open B; drop A; moved 0-16383
            submit c 2 -> hold
            up B -> send b B; send c B
            """)
    }

    /// What was in flight and has not been answered comes before what was held back.
    @Test func commandsInFlightAtTheSwitch() {
        Conversation(.sentinel).play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            submit a 1 repeatable -> send a A
            failover
            submit b 9000 -> hold
            switch B -> open B; drop A; moved 0-16383
            lost a
            up B -> send a B
            ok a -> send b B
            """)
    }

    @Test func aFailoverThatIsGivenUp() {
        Conversation(.sentinel).play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            failover
            submit a 1 -> hold
            aborted -> send a A
            aborted
            submit b 1 -> send b A
            """)
    }

    /// The Sentinel that began it has died.
    @Test func aFailoverOfWhichNoEndIsHeard() {
        Conversation(.sentinel).play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            at 250 -> read seed s
            map A 0-16383
            failover
            submit a 1 -> hold
            at 4249
            at 4250 -> send a A
            at 4255 -> read seed s
            """)
    }

    /// One Sentinel has told of the new master before the other's news of the beginning arrive.
    @Test func newsOfAFailoverThatIsOver() {
        Conversation(.sentinel).play(
            """
            start -> read seed s
            map B 0-16383 -> open B; moved 0-16383
            up B
            failover
            submit a 1 -> hold
            switch B -> send a B
            """)
    }

    @Test func aClusterKnowsNoSuspension() {
        Conversation().play(
            """
            start -> read seed s
            map A 0-16383 -> open A; moved 0-16383
            up A
            failover
            submit a 1 -> send a A
            """)
    }
}
