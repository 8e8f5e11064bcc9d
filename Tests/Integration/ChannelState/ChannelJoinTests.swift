import BusProtocol
import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import Testing

@testable import ChannelStateServer

/// A join's answer contains attributes that are read separately; they must match the answer's sequence number.
@Suite struct ChannelJoinTests {
    /// A join during which attributes change `changes` times, each time between the join
    /// and the read of the attributes.
    private static func joined(_ changes: Int) async throws -> (ChannelFunctions.Joined, calls: Int64?) {
        let source = """
            redis.register_function('channel_join', function(keys, args)
                local calls = redis.call('INCR', keys[1] .. ':calls')
                redis.call('SET', keys[1] .. ':attrver', calls)
                redis.call('HSET', keys[1] .. ':attrs', 'name', 'as of ' .. calls)
                return {'joined', 10 + calls, 1, 20 + calls, '0', '0', '', 30 + calls, calls > 1 and '1' or '',
                    tostring(calls > \(changes) and calls or calls - 1), '_member_num', '1'}
            end)
            """
        let library = RedisFunctionLibrary(name: "heliograph_channels", parts: [Array(source.utf8)])
        var result: (ChannelFunctions.Joined, calls: Int64?)?
        try await RedisScene.run(appendOnly: false, libraries: [library]) { scene in
            let app = try AppID("app")
            let channel = ChannelKey(app: app, name: try ChannelName("room"))
            let actor = BusProtocol.Actor(
                user: UserKey(app: app, account: try Account("alice")), uid: 7, session: SessionID("s1"))
            let functions = ChannelFunctions(redis: scene.connection)
            let joined = try await functions.join(actor, channel, CommandID("join"), deadline: nil)
            let calls = RedisCommand("GET", .string(KeySpace.tag(channel) + ":calls"))
            result = (joined, try await scene.connection.execute(calls).string.flatMap { Int64($0) })
        }
        return try #require(result)
    }

    @Test func theAnswersAttributesBelongToItsSequenceNumber() async throws {
        for changes in [0, 1, 5] {
            let (joined, calls) = try await Self.joined(changes)
            let last = Int64(changes + 1)
            #expect(calls == last)
            #expect(joined.answer.sequence == 10 + last)
            #expect(joined.answer.id == 30 + last)
            #expect(joined.createsChannel == (last > 1))
            #expect(joined.answer.attributes.map(\.value) == ["1", "as of \(last)"])
        }
    }

    @Test func aJoinFailsWhenTheAttributesKeepChanging() async throws {
        await #expect(throws: SignalingError.self) { try await Self.joined(1000) }
    }
}
