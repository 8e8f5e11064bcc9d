import Testing

@testable import RedisStore

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
}
