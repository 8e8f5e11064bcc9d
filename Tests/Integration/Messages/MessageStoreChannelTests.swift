import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite struct MessageStoreChannelTests {
    @Test func messagesAreNumberedKeptAndPublished() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna:{1}")
            try await scene.admit(anna)
            let (heard, subscriber) = try await scene.listen(KeySpace.topic(scene.channel))
            let bodies = ["hello", "", " two  spaces\n ", "🙂 e\u{301}"]
            var sent: [ChannelMessageSent] = []
            for body in bodies { sent.append(try await scene.say(body, by: anna)) }
            try await heard.wait(for: bodies.count, "publications")
            let published = try heard.all.map { try SignalingProtocol.ChannelEvent(payload: $0.readableBytesView) }
            let expected = zip(sent, bodies).map { sent, body in
                SignalingProtocol.ChannelEvent(
                    sequence: sent.sequence, id: sent.id, account: anna, uid: 7, kind: .message(body))
            }
            #expect(published == expected)
            #expect(sent.map(\.sequence) == (0..<4).map { sent[0].sequence + $0 })
            #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.id < $1.id })
            // The Redis clock, in milliseconds and in microseconds.
            let time = try #require(try await scene.command("TIME").array?.first?.int)
            #expect((time - 60...time + 1).contains(sent[0].sequence / 1000))
            #expect((time - 60...time + 1).contains(sent[0].id / 1_000_000))
            let page = try await scene.log(after: sent[0].id, sequence: sent[0].sequence)
            let latest = ChannelPosition(sequence: sent[3].sequence, id: sent[3].id)
            #expect(
                page
                    == ChannelLogPage(
                        events: Array(expected.dropFirst()), latest: latest, complete: true, through: latest,
                        more: false))
            await subscriber.close()
        }
    }

    @Test func idsRiseEvenWhenTheClockDoesNot() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let future: Int64 = 9_000_000_000_000_000
            try await scene.command(
                "HSET", .string(KeySpace.tag(scene.channel) + ":state"), "id", .int64(future), "seq", 41)
            #expect(try await scene.say("x", by: anna) == ChannelMessageSent(sequence: 42, id: future + 1))
        }
    }

    @Test func onlyMembersSpeakUnlessForced() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            let bob = try Account("bob")
            #expect(try await refusal { try await scene.say("x", by: anna) } == "400 not_member")
            // Nobody would hear it.
            #expect(try await scene.say("x", by: bob, force: true) == ChannelMessageSent(sequence: 0, id: 0))
            #expect(try await scene.command("EXISTS", .string(KeySpace.tag(scene.channel) + ":state")).int == 0)
            try await scene.admit(anna)
            #expect(try await refusal { try await scene.say("x", by: bob) } == "400 not_member")
            #expect(try await scene.say("x", by: bob, force: true).sequence > 0)
        }
    }

    @Test func theChannelsLimitCounts() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            let state = KeySpace.tag(scene.channel) + ":state"
            let rate = KeySpace.tag(scene.channel) + ":rate"
            try await scene.admit(anna)
            func burst(limit: Int, of count: Int) async throws -> Int {
                var taken = 0
                for _ in 0..<count {
                    do {
                        _ = try await scene.say("x", by: anna, limit: limit)
                        taken += 1
                    } catch let error as SignalingError {
                        #expect(error.code == .messageOther && error.reason == .rateLimited)
                    }
                }
                return taken
            }
            #expect(try await burst(limit: 3, of: 5) == 3)
            try await waitUntil("the next second") { try await burst(limit: 3, of: 1) == 1 ? nil : "limited" }
            // The channel's own limit wins over the default, in both directions, but not over none at all.
            try await scene.command("HSET", .string(state), "_sendmsg_limit", 2)
            try await scene.command("DEL", .string(rate))
            #expect(try await burst(limit: 3, of: 5) == 2)
            #expect(try await burst(limit: 1_000_000, of: 5) == 5)
            try await scene.command("HSET", .string(state), "_sendmsg_limit", "rubbish")
            try await scene.command("DEL", .string(rate))
            #expect(try await burst(limit: 3, of: 5) == 3)
        }
    }

    @Test func aRepeatedCommandIsPublishedOnce() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let first = try await scene.say("x", by: anna, command: CommandID("c1"))
            #expect(try await scene.say("x", by: anna, command: CommandID("c1")) == first)
            #expect(try await scene.log(after: 0).events.count == 1)
        }
    }

    @Test func theLogTellsWhatIsMissing() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            let none = try await scene.log(after: 0)
            #expect(none.events.isEmpty && none.latest.sequence == 0 && none.complete && !none.more)
            #expect(try await !scene.log(after: 5, sequence: 5).complete)
            try await scene.admit(anna)
            var sent: [ChannelMessageSent] = []
            for number in 0..<10 { sent.append(try await scene.say("\(number)", by: anna)) }
            let last = try await scene.log(after: sent[9].id, sequence: sent[9].sequence)
            #expect(last.events.isEmpty && last.complete && !last.more)
            #expect(last.latest == ChannelPosition(sequence: sent[9].sequence, id: sent[9].id))
            let page = try await scene.log(after: sent[3].id, sequence: sent[3].sequence, limit: 2)
            #expect(page.events.map(\.id) == [sent[4].id, sent[5].id] && page.complete && page.more)
            #expect(page.through == ChannelPosition(sequence: sent[5].sequence, id: sent[5].id))
            try await scene.command("XTRIM", .string(KeySpace.tag(scene.channel) + ":log"), "MAXLEN", 4)
            let trimmed = try await scene.log(after: sent[3].id, sequence: sent[3].sequence)
            #expect(trimmed.events.map(\.id) == sent[6...].map(\.id) && !trimmed.complete)
            #expect(try await scene.log(after: sent[5].id, sequence: sent[5].sequence).complete)
        }
    }

    @Test func aClientIsGivenWhatItMissed() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            let log = KeySpace.tag(scene.channel) + ":log"
            try await scene.admit(anna)
            var sent: [ChannelMessageSent] = []
            // Enough messages for more than one step of the function.
            for number in 0..<300 { sent.append(try await scene.say("\(number)", by: anna, limit: 1_000_000)) }
            for seen in [0, 1, 9, 15, 16, 150, 298] {
                let page = try await scene.log(after: sent[seen].id, limit: 1000)
                #expect(page.events.map(\.id) == sent[(seen + 1)...].map(\.id))
                #expect(page.complete && !page.more && page.latest.sequence == sent[299].sequence)
            }
            #expect(try await scene.log(after: sent[299].id).events.isEmpty)
            // A client that has seen no event, in a channel whose log was never trimmed.
            let all = try await scene.log(after: sent[0].id - 1, limit: 300)
            #expect(all.events.count == 300 && all.complete && !all.more)
            // More events than fit into one page.
            let some = try await scene.log(after: sent[9].id, limit: 5)
            #expect(some.events.map(\.id) == sent[10..<15].map(\.id) && some.complete && some.more)
            try await scene.command("XTRIM", .string(log), "MAXLEN", 100)
            #expect(try await scene.log(after: sent[9].id, limit: 1000).complete == false)
            #expect(try await scene.log(after: sent[200].id, limit: 1000).complete)
        }
    }

    @Test func theLogIsReadBackwards() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            let log = KeySpace.tag(scene.channel) + ":log"
            func back(
                before id: Int64 = 0, above lower: Int64 = 0, limit: Int = 1000
            ) async throws -> ChannelLogPage {
                try await scene.store.readLogBack(scene.channel, before: id, above: lower, limit: limit)
            }
            let none = try await back()
            #expect(none.events.isEmpty && none.complete && !none.more)
            #expect(try await !back(above: 5).complete, "the channel may have ended since")
            try await scene.admit(anna)
            var sent: [Int64] = []
            for number in 0..<300 { sent.append(try await scene.say("\(number)", by: anna, limit: 1_000_000).id) }
            let all = try await back()
            #expect(all.events.map(\.id) == sent.reversed() && all.complete && !all.more)
            for end in [1, 2, 15, 16, 17, 150, 299] {
                let page = try await back(before: sent[end])
                #expect(page.events.map(\.id) == sent[..<end].reversed() && page.complete && !page.more)
                let between = try await back(before: sent[end] + 1, above: sent[end - 1])
                #expect(between.events.map(\.id) == [sent[end]] && between.complete && !between.more)
            }
            #expect(try await back(before: sent[0]).events.isEmpty)
            let some = try await back(before: sent[200], limit: 20)
            #expect(some.events.map(\.id) == sent[180..<200].reversed() && some.more && some.complete)
            #expect(some.through.id == sent[180])
            try await scene.command("XTRIM", .string(log), "MAXLEN", 100)
            #expect(try await back(limit: 100).complete == false)
            #expect(try await back(limit: 99).complete, "the page itself has no gap, and more follow")
            #expect(try await back(above: sent[210]).complete)
            let gone = try await back(before: sent[200])
            #expect(gone.events.isEmpty && !gone.complete && !gone.more)
            try await scene.command("DEL", .string(log))
            #expect(try await back().complete == false)
            #expect(try await back(above: sent[299]).complete)
        }
    }

    @Test func aPageBackwardsIsBoundedInBytes() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let text = String(repeating: "x", count: Limits.messageBytes)
            var sent: [Int64] = []
            for _ in 0..<40 { sent.append(try await scene.say(text, by: anna, limit: 1_000_000).id) }
            var (found, before): ([Int64], Int64) = ([], 0)
            var pages = 0
            while true {
                let page = try await scene.store.readLogBack(scene.channel, before: before, above: 0)
                found += page.events.map(\.id)
                before = page.through.id
                pages += 1
                if !page.more { break }
            }
            #expect(found == sent.reversed() && pages == 3)
        }
    }

    @Test func aPageIsBoundedInBytesAndAllOfThemBringAll() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let body = String(repeating: "x", count: Limits.messageBytes)
            var sent: [Int64] = []
            for _ in 0..<100 { sent.append(try await scene.say(body, by: anna, limit: 1_000_000).id) }
            var (given, position, pages) = ([Int64](), ChannelPosition(sequence: 0, id: sent[0] - 1), 0)
            while true {
                let page = try await scene.log(after: position.id, sequence: position.sequence, limit: 2000)
                #expect(page.complete)
                #expect(page.events.reduce(0) { $0 + $1.payload.utf8.count } <= 131_072)
                given += page.events.map(\.id)
                position = page.through
                pages += 1
                if !page.more { break }
            }
            #expect(given == sent && pages == 7)
        }
    }

    /// An event of a kind that only a newer release knows, and a malformed one.
    @Test(arguments: ["news of N+1", "attr news"])
    func anEventThatCannotBeReadCostsNoOther(_ rest: String) async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let first = try await scene.say("1", by: anna)
            let log = KeySpace.tag(scene.channel) + ":log"
            let (sequence, id) = (first.sequence + 1, first.id + 1)
            try await scene.command(
                "XADD", .string(log), .string("\(sequence)-0"), "e", .string("\(sequence) \(id) anna 7 \(rest)"))
            try await scene.command(
                "HSET", .string(KeySpace.tag(scene.channel) + ":state"), "seq", .int64(sequence), "id", .int64(id))
            let third = try await scene.say("3", by: anna)
            let page = try await scene.log(after: first.id - 1)
            #expect(page.events.map(\.id) == [first.id, third.id] && page.complete)
        }
    }

    @Test func aLogThatCameBackOlderIsReadByID() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let first = try await scene.say("1", by: anna)
            // The gateway has seen three events more than Redis still knows of.
            let seen = ChannelPosition(sequence: first.sequence + 3, id: first.id + 3)
            let before = try await scene.log(after: seen.id, sequence: seen.sequence)
            #expect(before.events.isEmpty && before.latest.sequence < seen.sequence)
            let second = try await scene.say("2", by: anna)
            #expect(second.sequence <= seen.sequence && second.id > seen.id)
            let after = try await scene.log(after: seen.id, sequence: seen.sequence)
            #expect(after.events.map(\.id) == [second.id] && after.complete)
        }
    }

    @Test func onlyTheMembersSessionSpeaks() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            func fence(_ session: String) -> SessionFence {
                SessionFence(session: SessionID(session), gateway: scene.gateway)
            }
            try await scene.admit(anna)
            #expect(try await scene.say("x", by: anna, in: fence("s1")).sequence > 0)
            // "1", the end of the session's name, must not be taken for a session.
            for other in ["s2", "1", "7 s1"] {
                #expect(try await refusal { try await scene.say("x", by: anna, in: fence(other)) } == "400 not_member")
            }
            // A sender that need not be a member must still be logged in.
            let user = UserKey(app: scene.channel.app, account: anna)
            #expect(
                try await refusal { try await scene.say("x", by: anna, in: fence("s2"), force: true) }
                    == "1001 unavailable")
            try await scene.open("s2", of: user)
            #expect(try await scene.say("x", by: anna, in: fence("s2"), force: true).sequence > 0)
            #expect(
                try await refusal { try await scene.say("x", by: anna, in: fence("s1"), force: true) }
                    == "1003 session_over")
        }
    }

    @Test(arguments: SpecialChannel.allCases.flatMap { [$0.rawValue, "_" + $0.rawValue] })
    func onlyTheSystemSpeaksInASpecialChannel(_ name: String) async throws {
        try await MessageStoreScene.run { scene in
            func answer(to function: String, in name: String) async throws -> Result<RedisValue, RedisError> {
                let keys = ChannelKeys(ChannelKey(app: scene.channel.app, name: try ChannelName(name)))
                try await scene.command("SET", .string(keys.followed), 1)
                let command = RedisCommand.function(
                    function, tag: keys.tag, "", "anna", 7, "", "", 1, 1_000_000_000, "x", "")
                return await scene.redis.connection.execute([command])[0]
            }
            let refused = try await answer(to: "message_to_channel", in: name)
            #expect("\(refused)".contains("1004 special_channel"), "\(refused)")
            for (function, name) in [("announcement_to_channel", name), ("message_to_channel", "x\(name)")] {
                let sent = try await answer(to: function, in: name).get()
                #expect(sent.array?.first?.int ?? 0 > 0)
            }
        }
    }

    @Test func theLogIsBoundedInCountAndTime() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            let log = KeySpace.tag(scene.channel) + ":log"
            try await scene.admit(anna)
            _ = try await scene.say("x", by: anna)
            let life = try #require(try await scene.command("PTTL", .string(log)).int)
            #expect((3_500_000...3_600_000).contains(life))
            let command = RedisCommand.function(
                "message_to_channel", tag: KeySpace.tag(scene.channel), "", "anna", 7, "", "", 0, 1_000_000, "x")
            _ = await scene.redis.connection.execute(Array(repeating: command, count: 5000))
            let length = try #require(try await scene.command("XLEN", .string(log)).int)
            #expect((2000..<2200).contains(length))
        }
    }

    @Test func announcementsNeedSomebodyWhoFollowsAndGetALongerLog() async throws {
        try await MessageStoreScene.run { scene in
            let keys = ChannelKeys(scene.channel)
            func announcement(limit: RedisArgument) -> RedisCommand {
                .function("announcement_to_channel", tag: keys.tag, "", "anna", 7, "", "", 1, limit, "x", "")
            }
            let unheard = try await scene.redis.connection.execute(announcement(limit: 1_000_000_000))
            #expect(unheard.array?.map(\.int) == [0, 0])
            try await scene.command("SET", .string(keys.followed), 1)
            for (limit, bound) in [(1_000_000, 2000), (1_000_000_000, 20_000)] as [(Int, Int)] {
                let commands = Array(repeating: announcement(limit: .int(limit)), count: 1000)
                for _ in 0...bound / 1000 { _ = await scene.redis.connection.execute(commands) }
                let length = try #require(try await scene.command("XLEN", .string(keys.tag + ":log")).int)
                #expect((bound..<bound + 200).contains(Int(length)))
            }
        }
    }
}
