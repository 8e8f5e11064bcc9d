import BusProtocol
import ClusterState
import MessageStore
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The bounds of channel-state and presence, and how they refuse what exceeds them.
@Suite struct ChannelStateBoundTests {
    private func fill(_ channel: ChannelKey, _ pool: PostgresPool) async throws {
        let store = AttributeStore(pool: pool)
        let account = try Account("setter")
        for part in 0..<4 {
            let versions = try await store.changeChannelAttributes(
                try (0..<250).map { number in
                    let name = try AttributeName("n\(part * 250 + number)")
                    return ChannelAttributeChange(
                        command: CommandID("fill\(part)-\(number)"), channel: channel, account: account,
                        change: .update(Attribute(name: name, value: String(repeating: "x", count: 1000))))
                })
            #expect(versions.allSatisfy { $0 > 0 })
        }
    }

    @Test func oneAttributeTooManyIsRefused() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            try await fill(room, stage.pool)
            let alice = try await stage.login("alice", on: gateway)
            // The cache is filled in steps, but a new member gets all attributes in one answer.
            let joined = try await gateway.send(JoinChannel(actor: alice.actor, channel: room.name))
            #expect(joined.attributes.count == Limits.attributesPerOwner)
            let more = alice.change(.update(Attribute(name: try AttributeName("more"), value: "")), of: room)
            let refused = try await gateway.refusal(more)
            #expect(refused?.code == .largeParameter)
            #expect(refused?.reason == .tooManyAttributes)
            let there = alice.change(.update(Attribute(name: try AttributeName("n1"), value: "y")), of: room)
            #expect(try await gateway.refusal(there) == nil)
            // Only PostgreSQL can check the bound in bytes.
            for number in 2...6 {
                let name = try AttributeName("n\(number)")
                let large = alice.change(
                    .update(Attribute(name: name, value: String(repeating: "y", count: 8096))), of: room)
                #expect(try await gateway.refusal(large) == nil)
            }
            let refusals = try await (7...12).asyncMap { number in
                let name = try AttributeName("n\(number)")
                return try await gateway.refusal(
                    alice.change(.update(Attribute(name: name, value: String(repeating: "y", count: 8096))), of: room))
            }
            #expect(refusals.last??.reason == .tooManyAttributes)
        }
    }

    @Test(arguments: [(128, 25_000), (8, 50_500)])
    func aListOfMembersIsNoLongerThanAnAnswerMayBe(bytes: Int, members: Int) async throws {
        try await ServicesStage.run(instances: 1) { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("crowd")
            let tag = KeySpace.tag(room)
            for start in stride(from: 0, to: members, by: 5000) {
                var scores = RedisCommand("ZADD", .string(tag + ":members"))
                var numbers = RedisCommand("HSET", .string(tag + ":info"))
                for number in start..<min(start + 5000, members) {
                    let digits = String(number)
                    let account = RedisArgument.string(
                        "m" + String(repeating: "0", count: bytes - 1 - digits.count) + digits)
                    for argument in [.int(number), account] { scores.append(argument) }
                    for argument in [account, .string("\(number) s")] { numbers.append(argument) }
                }
                _ = try await stage.connection.execute(scores)
                _ = try await stage.connection.execute(numbers)
            }
            let list = try await gateway.send(ListMembers(channel: room, limit: Limits.userListAll))
            #expect(list.total == members)
            // The latest members, as many as fit into the answer.
            #expect(list.members.count == min(50_000, (3 << 20) / (bytes + 24) / 500 * 500 + 500))
            #expect(list.members.first?.uid == UInt32(members - 1))
            #expect(list.members.last?.uid == UInt32(members - list.members.count))
            #expect(Set(list.members.map(\.uid)).count == list.members.count)
        }
    }

    @Test func aNearlyFullRedisTakesNoAttributes() async throws {
        try await ServicesStage.run(instances: 1) { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let alice = try await stage.login("alice", on: gateway)
            let mood = Attribute(name: try AttributeName("mood"), value: "good")
            let changes = (own: alice.setting(mood), room: alice.change(.update(mood), of: room))
            #expect(try await gateway.refusal(changes.own) == nil)
            #expect(try await gateway.refusal(changes.room) == nil)
            let memory = try await stage.redis("INFO", "memory").string ?? ""
            let line = memory.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
            let used = try #require(line.flatMap { Double($0.dropFirst("used_memory:".count)) })
            _ = try await stage.redis("CONFIG", "SET", "maxmemory", "\(Int(used / 0.9))")
            // Each library checks Redis' memory once a second.
            try await waitUntil("refusals") {
                let refused = [try await gateway.refusal(changes.own), try await gateway.refusal(changes.room)]
                return refused == [.memoryFull, .memoryFull] ? nil : "\(refused)"
            }
            let delete = alice.change(.delete(mood.name), of: room)
            #expect(try await gateway.refusal(delete) == nil, "what frees memory passes")
            let value = GetUserAttribute(user: alice.line.user, name: mood.name)
            #expect(try await gateway.send(value).value == "good", "nothing is lost")
            _ = try await stage.redis("CONFIG", "SET", "maxmemory", "0")
            try await waitUntil("room") {
                let refused = [try await gateway.refusal(changes.own), try await gateway.refusal(changes.room)]
                return refused == [nil, nil] ? nil : "\(refused)"
            }
        }
    }

    @Test func oneUserAttributeTooManyIsRefused() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let alice = try await stage.login("alice", on: gateway)
            let store = AttributeStore(pool: stage.pool)
            for part in 0..<2 {
                _ = try await store.changeUserAttributes(
                    try (0..<500).map { number in
                        let name = try AttributeName("n\(part * 500 + number)")
                        return UserAttributeChange(
                            command: CommandID("fill\(part)-\(number)"), user: alice.line.user,
                            change: .update(Attribute(name: name, value: String(repeating: "x", count: 1000))))
                    })
            }
            _ = try await stage.redis("DEL", KeySpace.tag(alice.line.user) + ":attrver")
            for _ in 0..<2 {
                // The first refusal comes from PostgreSQL, later ones from the cached attributes.
                let more = alice.setting(Attribute(name: try AttributeName("more"), value: ""))
                #expect(try await gateway.refusal(more)?.reason == .tooManyAttributes)
                // Too many for one function call, so they are loaded in several steps.
                #expect(
                    try await gateway.send(ListUserAttributes(user: alice.line.user)).attributes.count
                        == Limits.attributesPerOwner)
            }
            // A login, too, loads them in several steps.
            _ = try await stage.redis("DEL", KeySpace.tag(alice.line.user) + ":attrver")
            _ = try await stage.login("alice", on: gateway)
            #expect(try await stage.redis("HLEN", KeySpace.tag(alice.line.user) + ":attrs").int == 1000)
        }
    }

    @Test func changesOfOneChannelAreRateLimited() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            let alice = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(alice.change(.clear, of: room))
            var refusals: [SignalingError?] = []
            // Repeats the test if a second ended in the middle of it.
            for _ in 0..<5 where !refusals.contains(where: { $0 != nil }) {
                refusals = try await withThrowingTaskGroup(of: SignalingError?.self) { group in
                    for number in 0..<12 {
                        let name = try AttributeName("n\(number)")
                        var change = alice.change(.update(Attribute(name: name, value: "")), of: room)
                        change.limitPerSecond = 5
                        group.addTask { [change] in try await gateway.refusal(change) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(refusals.compactMap { $0 }.allSatisfy { $0.reason == .rateLimited && $0.code == .failed })
            #expect(refusals.contains { $0 != nil })
        }
    }
}

extension StageSession {
    func change(_ change: AttributeChange, of channel: ChannelKey) -> ChangeChannelAttributes {
        ChangeChannelAttributes(actor: actor, channel: channel.name, change: change)
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
