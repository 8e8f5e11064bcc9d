import BusProtocol
import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// A channel with members, for the tests of built-in attributes.
struct BuiltInAttributeScene {
    var stage: ServicesStage
    var gateway: StageGateway
    var room: ChannelKey
    /// The channel's first member, in whose name attributes are changed.
    var alice: StageSession

    /// Runs a test with `alice` in the channel `room`, on two instances of each service.
    static func run(_ test: (BuiltInAttributeScene) async throws -> Void) async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            try await test(BuiltInAttributeScene(stage: stage, gateway: gateway, room: room, alice: alice))
        }
    }

    func update(_ name: String, _ value: String) throws -> ChangeChannelAttributes {
        change(.update(Attribute(name: try AttributeName(name), value: value)))
    }

    func change(_ change: AttributeChange) -> ChangeChannelAttributes {
        ChangeChannelAttributes(actor: alice.actor, channel: room.name, change: change)
    }

    func set(_ name: String, _ value: String) async throws { _ = try await gateway.send(try update(name, value)) }

    func delete(_ name: String) async throws { _ = try await gateway.send(change(.delete(try AttributeName(name)))) }

    @discardableResult
    func join(_ session: StageSession) async throws -> ChannelJoined {
        try await gateway.send(JoinChannel(actor: session.actor, channel: room.name))
    }

    /// Logs a user in and joins the channel.
    @discardableResult
    func enter(_ accounts: String...) async throws -> [StageSession] {
        var sessions: [StageSession] = []
        for account in accounts {
            sessions.append(try await stage.login(account, on: gateway))
            try await join(sessions[sessions.count - 1])
        }
        return sessions
    }

    func leave(_ session: StageSession) async throws {
        _ = try await gateway.send(LeaveChannel(actor: session.actor, channel: room.name, reason: .leaveByUser))
    }

    /// The events heard in the channel, without their numbers.
    var story: [String] { gateway.heard(in: room).map(\.summary) }

    /// Waits until exactly these events were heard.
    func heard(_ summaries: [String]) async throws {
        try await waitUntil("\(summaries)") { story == summaries ? nil : "\(story)" }
    }

    /// The updates of an attribute that were heard, each with its author.
    func told(_ name: String) -> [String] { story.filter { $0.contains(" \(name)=") } }

    /// Waits until exactly these updates of an attribute were heard.
    func told(_ name: String, _ expected: [String]) async throws {
        try await waitUntil("\(expected)") { told(name) == expected ? nil : "\(story)" }
    }

    /// The Redis times, in milliseconds, of the updates of an attribute that were heard.
    func times(_ name: String) -> [Int64] {
        gateway.heard(in: room).filter { $0.summary.contains(" \(name)=") }.map { $0.id / 1000 }
    }

    /// Waits until no timer of the channel's counters is set.
    func quiet() async throws {
        try await waitUntil("the timers to be done") {
            let members = try await stage.redis("ZRANGE", KeySpace.due(.channelState), "0", "-1").array ?? []
            let left = members.compactMap(\.string).filter { $0.hasPrefix("num ") || $0.hasPrefix("total ") }
            return left.isEmpty ? nil : "\(left)"
        }
    }
}
