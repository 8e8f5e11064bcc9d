import Testing

@testable import RedisClient

/// Finding the nodes, and refusals of a cluster's nodes.
@Suite struct ClusterStateMachineTests {
    @Test func start() {
        let conversation = Conversation(seeds: ["s", "t"])
        conversation.play(
            """
            submit x 5 -> hold
            start -> read seed s
            nomap
            at 249
            submit y 9000 -> hold
            submit z 5 -> hold
            at 250 -> read seed t
            map A 0-8191, B 8192-16383 -> open A; open B; moved 0-16383
            up A -> send x A; send z A
            submit v 5 -> send v A
            up B -> send y B
            at 500 -> read A
            map A 0-8191, B 8192-16383
            at 9499
            at 9500 -> read A
            """)
        #expect(conversation.readiness.isReady)
    }

    @Test func aSilentSeedIsLeft() {
        Conversation(seeds: ["s", "t"]).play(
            """
            start -> read seed s
            at 999
            at 1000 -> read seed t
            oldmap A 0-16383
            oldnomap
            at 1299
            nomap
            at 1300 -> read seed s
            """)
    }

    @Test func aServerThatKnowsNoClusterIsNoSource() {
        let conversation = Conversation(seeds: ["s", "t"])
        conversation.play(
            """
            start -> read seed s
            map
            at 250 -> read seed t
            """)
        #expect(conversation.readiness.lastFailure?.code == .shape)
        #expect(!conversation.readiness.isReady)
    }

    @Test func movedSlotKeepsItsOrder() {
        Conversation.connected().play(
            """
            submit a 5 fenced -> send a A
            submit b 5 -> send b A
            submit other 6 -> send other A
            submit c 5 fenced -> send c A
            error a A MOVED 5 b:1 -> moved 5-5
            submit d 5 -> hold
            error b A MOVED 5 b:1
            ok other
            submit other2 6 -> send other2 A
            error c A MOVED 5 b:1 -> send a B
            submit e 5 -> hold
            ok a -> send b B; send c B; send d B; send e B
            submit f 5 -> send f B
            at 500 -> read A
            """)
    }

    @Test func nodesThatNameEachOtherAreLeftAlone() {
        Conversation.connected().play(
            """
            submit a 5 fenced -> send a A
            error a A MOVED 5 b:1 -> moved 5-5; send a B
            at 251
            error a B MOVED 5 a:1 -> moved 5-5
            at 264
            at 265 -> send a A
            ok a
            """)
    }

    @Test func newOwnerThatIsNotConnectedYet() {
        Conversation.connected().play(
            """
            submit a 5 -> send a A
            error a A MOVED 5 c:1 -> open C; moved 5-5
            at 400
            up C -> send a C
            ok a
            """)
    }

    @Test func movedWithoutAnAddressWaitsForTheMap() {
        Conversation.connected().play(
            """
            submit a 5 -> send a A
            error a A MOVED 5 ?:1
            at 259
            at 260 -> send a A
            error a A MOVED 5 ?:1
            at 270 -> send a A
            at 500 -> read A
            map C 0-8191, B 8192-16383 -> open C; moved 0-8191
            error a A MOVED 5 ?:1
            up C -> send a C
            """)
    }

    /// A function call waits until the slot has moved; a command with one key follows it.
    @Test func migration() {
        Conversation.connected().play(
            """
            submit p 5 -> send p A
            submit q 5 -> send q A
            error p A ASK 5 b:1 -> asking p B
            submit r 5 -> send r A
            ok q
            submit f 5 fenced -> send f A
            error r A ASK 5 b:1 -> asking r B
            submit g 5 fenced -> send g A
            submit s 5 -> send s A
            error f A ASK 5 b:1
            ok p
            error g A ASK 5 b:1
            error s A ASK 5 b:1
            submit h 5 fenced -> hold
            at 300
            ok r -> send f A
            error f A ASK 5 b:1
            at 305
            at 310 -> send f A
            error f A MOVED 5 b:1 -> moved 5-5
            at 320 -> send f B
            ok f -> send g B; send s B; send h B
            """)
    }

    @Test func aCommandFollowsFromTheHeadOfAClosedSlot() {
        Conversation.connected().play(
            """
            submit p 5 -> send p A
            submit f 5 fenced -> send f A
            error p A TRYAGAIN Multiple keys request
            error f A ASK 5 b:1
            at 260 -> send p A
            error p A ASK 5 b:1 -> asking p B
            ok p -> send f A
            """)
    }

    @Test func askOfANodeThatWasNamedByAsk() {
        Conversation.connected().play(
            """
            submit p 5 -> send p A
            error p A ASK 5 b:1 -> asking p B
            error p B ASK 5 a:1
            at 260 -> send p A
            error p A ASK 5 b:1 -> asking p B
            error p B TRYAGAIN Multiple keys request
            at 270 -> send p A
            """)
    }

    /// ASK names a node without slots, which the map does not show: it stays connected as long as ASK names it.
    @Test func askOfANewNode() {
        Conversation.connected().play(
            """
            submit p 5 -> send p A
            error p A ASK 5 c:1 -> open C
            at 255
            up C
            at 260 -> send p A
            error p A ASK 5 c:1 -> asking p C
            ok p
            submit m 6 -> send m A
            error m A CLUSTERDOWN Hash slot not served
            at 310 -> send m A
            ok m
            at 500 -> read A
            map A 0-8191, B 8192-16383
            at 2259
            at 2260 -> drop C
            """)
    }

    @Test(arguments: ["CLUSTERDOWN x", "NOREPLICAS x", "READONLY x", "LOADING x", "MASTERDOWN x"])
    func statesThatPass(_ reply: String) {
        Conversation.connected().play(
            """
            submit a 5 fenced -> send a A
            submit b 5 fenced -> send b A
            error a A \(reply)
            error b A \(reply)
            at 295
            at 300 -> send a A
            error a A \(reply)
            at 350 -> send a A
            ok a -> send b A
            """)
    }

    @Test func aMapEndsTheWait() {
        Conversation.connected().play(
            """
            submit a 5 -> send a A
            at 480
            error a A CLUSTERDOWN x
            at 500 -> read A
            map B 0-16383 -> moved 0-8191; send a B
            """)
    }

    @Test func otherErrorsAreAnswers() {
        let conversation = Conversation.connected()
        conversation.play(
            """
            submit a 5 fenced -> send a A
            submit b 5 -> send b A
            error a A SIG 1 x y -> fail a SIG
            error b A ERR no -> fail b ERR
            submit c 5 -> send c A
            error c A READONLY You can't write. script: w, on @user_function:3. -> fail c READONLY
            """)
        #expect(conversation.pending == 0)
    }
}
