import Testing

@testable import RedisClient

/// Lost connections, silent nodes, new maps, deadlines and bounds.
@Suite struct ClusterOutageTests {
    @Test func aMasterDies() {
        let conversation = Conversation.connected()
        conversation.play(
            """
            at 1000
            submit a 5 fenced -> send a A
            submit b 5 fenced repeatable for 8000 -> send b A
            submit c 5 fenced -> send c A
            submit d 6 -> send d A
            down A
            lost a -> fail a CLOSED
            lost b
            unsent c
            lost d -> fail d CLOSED
            submit e 5 -> hold
            submit f 6 -> hold
            submit g 9000 -> send g B
            at 1005 -> read B
            map A 0-8191, B 8192-16383
            at 1254
            at 1255 -> read B
            map C 0-8191, B 8192-16383 -> open C; drop A; moved 0-8191
            submit h 7 -> hold
            at 1300
            up C -> send b C; send f C; send h C
            ok b -> send c C; send e C
            """)
        #expect(conversation.readiness.isReady)
    }

    @Test func aConnectionBreaks() {
        Conversation.connected().play(
            """
            submit a 5 -> send a A
            down A
            lost a -> fail a CLOSED
            submit b 5 -> hold
            submit c 6 -> hold
            submit d 5 -> hold
            at 300
            up A -> send b A; send d A; send c A
            """)
    }

    /// Its host is gone without a word: commands stay unsent until the map names another, or it answers after all.
    @Test func aSilentMaster() {
        Conversation.connected().play(
            """
            at 1000
            submit a 5 fenced -> send a A
            at 2000
            silent A
            silent A
            submit b 5 -> hold
            submit c 6 -> hold
            at 2005 -> read B
            map A 0-8191, B 8192-16383
            at 2255 -> read B
            heard A -> send b A; send c A
            silent A
            submit d 6 -> hold
            map C 0-8191, B 8192-16383 -> open C; drop A; moved 0-8191
            lost a -> fail a CLOSED
            lost b -> fail b CLOSED
            lost c -> fail c CLOSED
            submit e 5 -> hold
            up C -> send d C; send e C
            """)
    }

    /// It still answers what is in flight, so that nothing is left with an unknown outcome.
    @Test func aMasterThatOwnsNothingAnyMore() {
        Conversation.connected().play(
            """
            at 9250 -> read A
            submit a 5 -> send a A
            submit b 5 -> send b A
            submit c 7 -> send c A
            map B 0-16383 -> moved 0-8191
            submit d 5 -> hold
            submit e 6 -> send e B
            ok a
            error b A MOVED 5 b:1 -> send b B
            ok b -> send d B
            at 9499
            submit f 7 -> hold
            at 9500 -> drop A; read B
            lost c -> fail c CLOSED; send f B
            """)
    }

    @Test func aNodeBackOnTheMapStays() {
        Conversation.connected().play(
            """
            at 9250 -> read A
            map B 0-16383 -> moved 0-8191
            down B
            at 9300
            at 9500 -> drop A; read seed s
            map A 0-1, B 2-16383 -> open A; moved 0-1
            """)
    }

    @Test func aSlotThatNobodyServes() {
        let conversation = Conversation.connected()
        conversation.play(
            """
            at 9250 -> read A
            map A 0-4, A 6-8191, B 8192-16383 -> moved 5-5
            submit a 5 -> hold
            submit b 6 -> send b A
            at 9500 -> read A
            map A 0-4, A 6-8191, B 8192-16383
            at 9750 -> read A
            map A 0-8191, B 8192-16383 -> moved 5-5; send a A
            """)
        #expect(conversation.readiness.uncovered.isEmpty)
    }

    @Test func deadlines() {
        let conversation = Conversation.connected()
        conversation.play(
            """
            submit a 5 for 1000 -> send a A
            submit b 5 repeatable for 2000 -> send b A
            submit c 5 for 500 -> send c A
            error a A NOREPLICAS x
            lost b
            error c A NOREPLICAS x
            submit d 5 for 100 -> hold
            at 300 -> send a A
            error a A NOREPLICAS x
            at 345
            at 350 -> fail d TIMEOUT; send a A
            at 1000 -> fail c TIMEOUT
            ok a -> send b A
            """)
        #expect(conversation.pending == 1)
    }

    /// The deadline's timer may come late.
    @Test func nothingIsSentAfterItsDeadline() {
        Conversation.connected().play(
            """
            submit a 5 for 3 -> send a A
            submit b 5 for 3 -> send b A
            submit c 5 for 30 -> send c A
            error a A MOVED 5 c:1 -> open C; moved 5-5
            error b A MOVED 5 c:1
            error c A MOVED 5 c:1
            at 254
            up C -> fail a TIMEOUT; fail b TIMEOUT; send c C
            lost c -> fail c CLOSED
            submit d 9000 repeatable for 10 -> send d B
            at 270
            lost d -> fail d CLOSED
            submit e 9000 for 10 -> send e B
            at 290
            unsent e -> fail e TIMEOUT
            """)
    }

    @Test func boundOfOneSlot() {
        Conversation.connected { $0.maxHeldPerSlot = 2 }.play(
            """
            submit a 5 -> send a A
            submit b 5 -> send b A
            submit c 5 -> send c A
            error a A MOVED 5 c:1 -> open C; moved 5-5
            submit d 5 -> hold
            submit e 5 -> refuse FULL
            submit f 6 -> send f A
            error b A MOVED 5 c:1
            error c A MOVED 5 c:1
            up C -> send a C
            ok a -> send b C; send c C; send d C
            """)
    }

    @Test func boundOfAll() {
        let conversation = Conversation.connected { $0.maxPending = 2 }
        conversation.play(
            """
            submit a 5 -> send a A
            down A
            submit b 5 -> hold
            submit c 9000 -> refuse FULL
            lost a -> fail a CLOSED
            submit c 9000 -> send c B
            close -> fail b CLOSED; drop A; drop B
            lost c -> fail c CLOSED
            submit d 5 -> hold
            """)
    }

    @Test func readingsThatDoNotHelpBecomeRarer() {
        let conversation = Conversation.connected { $0.reading.patience = 3 }
        conversation.play(
            """
            down A
            at 500 -> read B
            map A 0-8191, B 8192-16383
            at 750 -> read B
            map A 0-8191, B 8192-16383
            at 1000 -> read B
            map A 0-8191, B 8192-16383
            at 1999
            at 2000 -> read B
            """)
        #expect(conversation.readiness.away == [Conversation.address("a")])
        #expect(!conversation.readiness.isReady)
    }

    @Test func whatKeepsItsOrderInOnePipeline() {
        let conversation = Conversation.connected()
        #expect(conversation.keepsOrder(of: []))
        #expect(conversation.keepsOrder(of: [5, 5]))
        #expect(conversation.keepsOrder(of: [5, 6, 8191]))
        #expect(!conversation.keepsOrder(of: [5, 8192]))
        conversation.play(
            """
            submit a 6 fenced -> send a A
            error a A ASK 6 b:1
            """)
        #expect(!conversation.keepsOrder(of: [5, 6]))
        #expect(conversation.keepsOrder(of: [6, 6]))
        conversation.play("silent B")
        #expect(!conversation.keepsOrder(of: [9000, 9001]))
    }
}
