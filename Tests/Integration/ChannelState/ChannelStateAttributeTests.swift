import BusProtocol
import MessageStore
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Attributes of channels, over a real Redis and PostgreSQL.
@Suite struct ChannelStateAttributeTests {
    private func update(_ name: String, _ value: String) throws -> AttributeChange {
        .update(Attribute(name: try AttributeName(name), value: value))
    }

    /// A channel with a member, and the commands that change attributes in the member's name.
    private struct Scene {
        var gateway: StageGateway
        var room: ChannelKey
        var session: StageSession

        func change(_ change: AttributeChange) -> ChangeChannelAttributes {
            ChangeChannelAttributes(
                actor: session.actor, channel: room.name, change: change, limitPerSecond: AppLimit.unlimited)
        }

        func heard(_ summaries: [String]) async throws {
            try await waitUntil("\(summaries)") {
                let found = gateway.heard(in: room).map(\.summary)
                return found == summaries ? nil : "\(found)"
            }
        }
    }

    private func scene(_ stage: ServicesStage) async throws -> Scene {
        let (gateway, room, alice) = try await stage.roomWithAlice()
        return Scene(gateway: gateway, room: room, session: alice)
    }

    @Test func changesAreCommittedThenHeardInOrder() async throws {
        try await ServicesStage.run { stage in
            let scene = try await scene(stage)
            for change in [try update("a", "1 2\n"), try update("b", ""), try update("a", "3")] {
                _ = try await scene.gateway.send(scene.change(change))
            }
            let bob = try await stage.login("bob", on: scene.gateway)
            let joined = try await scene.gateway.send(JoinChannel(actor: bob.actor, channel: scene.room.name))
            #expect(joined.attributes.map { "\($0.name)=\($0.value)" } == ["a=3", "b="])
            _ = try await scene.gateway.send(scene.change(.delete(try AttributeName("b"))))
            _ = try await scene.gateway.send(scene.change(.clear))
            try await scene.heard([
                "alice joined", "alice a=1 2\n", "alice b=", "alice a=3", "bob joined", "alice del b", "alice clear",
            ])
            let sequences = scene.gateway.heard(in: scene.room).map(\.sequence)
            #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 + 1 == $1 })
            try await stage.expectRows("SELECT name AS line FROM channel_attributes", [])
        }
    }

    @Test func theFirstChangeMayBeADeletion() async throws {
        try await ServicesStage.run { stage in
            let scene = try await scene(stage)
            _ = try await scene.gateway.send(scene.change(.clear))
            _ = try await scene.gateway.send(scene.change(.delete(try AttributeName("x"))))
            try await scene.heard(["alice joined", "alice clear", "alice del x"])
        }
    }

    @Test func concurrentChangesOfTwoInstancesAreHeardAsCommitted() async throws {
        try await ServicesStage.run { stage in
            let scene = try await scene(stage)
            _ = try await scene.gateway.send(scene.change(try update("n0", "start")))
            try await withThrowingTaskGroup { group in
                for number in 0..<200 {
                    group.addTask {
                        _ = try await scene.gateway.send(scene.change(try update("n\(number % 5)", "\(number)")))
                    }
                }
                try await group.waitForAll()
            }
            try await waitUntil("all events") {
                let count = scene.gateway.heard(in: scene.room).count
                return count == 202 ? nil : "\(count)"
            }
            let sequences = scene.gateway.heard(in: scene.room).map(\.sequence)
            #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 + 1 == $1 })
            // A gateway that listened all the time has the same attributes as PostgreSQL, and so has a new member.
            var listened: [AttributeName: String] = [:]
            for event in scene.gateway.heard(in: scene.room) {
                if case .attributes(.update(let attribute)) = event.kind { listened[attribute.name] = attribute.value }
            }
            let stored = try await AttributeStore(pool: stage.pool).channelAttributes(scene.room)
            #expect(Dictionary(uniqueKeysWithValues: stored.attributes.map { ($0.name, $0.value) }) == listened)
            let bob = try await stage.login("bob", on: scene.gateway)
            let joined = try await scene.gateway.send(JoinChannel(actor: bob.actor, channel: scene.room.name))
            #expect(joined.attributes == stored.attributes)
        }
    }

    @Test func anUnpublishedCommitIsPublishedLater() async throws {
        try await ServicesStage.run { stage in
            let scene = try await scene(stage)
            _ = try await scene.gateway.send(scene.change(try update("a", "1")))
            // An instance commits a change to PostgreSQL and dies before it publishes the change.
            let orphan = ChannelAttributeChange(
                command: CommandID("orphan"), channel: scene.room, account: scene.session.line.user.account,
                change: try update("b", "2"))
            _ = try await AttributeStore(pool: stage.pool).changeChannelAttributes([orphan])
            // The next change waits for the missing one in vain, and then reads all attributes from PostgreSQL.
            _ = try await scene.gateway.send(scene.change(try update("c", "3")))
            try await scene.heard(["alice joined", "alice a=1", "alice b=2", "alice c=3"])
        }
    }

    @Test func badChangesAreRefused() async throws {
        try await ServicesStage.run { stage in
            let scene = try await scene(stage)
            for (name, value) in [("_x", "1"), ("_member_num", "1"), ("_channel_ttl", "soon")] {
                let refused = try await scene.gateway.refusal(scene.change(try update(name, value)))
                #expect(refused?.code == .wrongParameter)
            }
            let large = try update("a", String(repeating: "x", count: 8097))
            #expect(try await scene.gateway.refusal(scene.change(large))?.code == .largeParameter)
        }
    }

    @Test func withoutPostgresJoinsSucceedAndChangesFail() async throws {
        try await ServicesStage.run(instances: 1, ownPostgres: true) { stage in
            let scene = try await scene(stage)
            _ = try await scene.gateway.send(scene.change(try update("a", "1")))
            let bob = try await stage.login("bob", on: scene.gateway)
            let carol = try await stage.login("carol", on: scene.gateway)
            try await stage.postgres.stop()
            let joined = try await scene.gateway.send(JoinChannel(actor: bob.actor, channel: scene.room.name))
            #expect(joined.attributes.map(\.value) == ["1"])
            let other = try ChannelName("never seen")
            let first = try await scene.gateway.send(JoinChannel(actor: carol.actor, channel: other))
            #expect(first.attributes.isEmpty && first.members.all.count == 1)
            #expect(
                try await scene.gateway.refusal(scene.change(try update("a", "2")))?.reason == .unavailable)
            try await stage.postgres.start()
            try await waitUntil("PostgreSQL to be used again") {
                try await scene.gateway.refusal(scene.change(try update("a", "2")))?.description
            }
            try await scene.heard(["alice joined", "alice a=1", "bob joined", "alice a=2"])
        }
    }
}
