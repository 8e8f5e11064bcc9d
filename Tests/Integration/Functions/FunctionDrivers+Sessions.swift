import RedisClient
import SignalingProtocol
import Testing

/// Calls the functions that work on a user's keys.
extension FunctionDrivers {
    private static let gateway: RedisArgument = "gateway-1"
    /// The longest IP address.
    private static let address: RedisArgument = "2001:0db8:0000:0000:0000:0000:0000:0001"
    /// Channels that a session still has to leave, each left behind by a crash.
    private static let leaving = (0..<100).map { long("channel", $0) }.joined(separator: "\n")

    private static func open(_ sid: String, _ attributes: [RedisArgument], _ tag: String) -> RedisCommand {
        .function(
            "session_open", tag: tag,
            arguments: [
                0, gateway, .string(sid), "secret", 7, .string(long("device")), 0, 120, 0, address,
            ] + attributes)
    }

    static func sessions(_ times: FunctionTimes) async throws {
        let tag = "{u}"
        let session = try await logins(times, tag)
        try await put(try attributes, at: "{u}:attrs", times)
        try await times.command("HSET", "{u}:session", "leaving", .string(leaving), "channel", .string(long("channel")))
        try await times.expectShort("session_resume", tag, "resume", 0, "gateway-2", session, "secret", address)
        try await times.expectShort("a session that is elsewhere than recorded") {
            try await reassert(session, turn: 1000, channel: long("other"), tag, times)
        }
        try await times.expectShort("session_detach", tag, "detach", 0, gateway, session, 0, 0)
        try await times.expectShort("session_due", tag, session, 0)
        try await times.expectShort("session_close", tag, "close", 0, session, 602)
        try await times.expectShort("session_ended", tag, session)
        try await times.expectShort("user_ban", tag, 0, 1, 0)
        try await forgottenSessions(times, tag)
    }

    /// - Returns: the session of the last login.
    private static func logins(_ times: FunctionTimes, _ tag: String) async throws -> RedisArgument {
        var number = 0
        let step = pairs(try self.step)
        // The routes of the user's bucket, when all users that a gateway may have are in it.
        for page in 0..<200 {
            let routes = (0..<250).map { RedisArgument.string("s \(long("account", page * 250 + $0))") }
            try await times.all([RedisCommand("SADD", arguments: ["{u}r:gateway-1"] + routes)])
        }
        try await times.all([open("s0", [""], tag)])
        // Each login replaces the session before it.
        try await times.expectShort(
            "session_open",
            after: {
                try await times.command("DEL", "{u}:attrver")
                try await times.command(
                    "HSET", "{u}:session", "leaving", .string(leaving), "channel", .string(long("c")))
            },
            {
                number += 1
                try await times.all([open("s\(number)", [.int(number)] + step, tag)])
            })
        return .string("s\(number)")
    }

    private static func reassert(
        _ session: RedisArgument, turn: RedisArgument, channel: String, _ tag: String, _ times: FunctionTimes
    ) async throws {
        try await times.call(
            "session_reassert", tag, gateway, session, "secret", 7, .string(long("device")), 0, 1,
            .int64(.max / 1024), 0, turn, .string(channel), 120, "", address)
    }

    /// Sessions that Redis has lost, but gateways hold.
    private static func forgottenSessions(_ times: FunctionTimes, _ tag: String) async throws {
        try await times.expectShort(
            "a session that was forgotten", after: { try await times.command("DEL", "{u}:session", "{u}:box") },
            { try await reassert("new", turn: 1, channel: long("channel"), tag, times) })
        try await times.expectShort(
            "session_reassert_detached", after: { try await times.command("DEL", "{u}:session", "{u}:box") },
            {
                try await times.call(
                    "session_reassert_detached", tag, gateway, "lost", "secret", 7, .string(long("device")), 0, 1,
                    .int64(.max / 1024), 0, 1, .string(long("channel")), 120, 1, address)
            })
        try await times.command("DEL", "{u}:session")
        try await times.expectShort(
            "session_forgotten", tag, "older", gateway, 7, .string(long("device")), 1, .string(leaving))
    }

    static func userAttributes(_ times: FunctionTimes) async throws {
        let tag = "{v}"
        let all = try attributes
        try await times.command("HSET", "{v}:box", "sid", "s1", "gateway", gateway)
        try await put(all, at: "{v}:attrs", times)
        try await times.command("SET", "{v}:attrver", 1)
        try await times.expectShort("user_attribute_begin", tag, 0, "s1", gateway, .string(all[1].name.rawValue))
        var version = 1
        let value = String(repeating: "x", count: Limits.attributeValueBytes)
        try await times.expectShort("a change") {
            version += 1
            try await times.call("user_attribute_committed", tag, .int(version), "name1", .string(value), 60)
        }
        // Another change came in between, so the cached attributes are dropped.
        try await times.expectShort("a change that overtook another") {
            version += 2
            try await times.call("user_attribute_committed", tag, .int(version), "name1", .string(value), "")
        }
        try await times.expectShort(
            "user_attributes_take",
            after: {
                // In the place of others.
                try await put(all, at: "{v}:attrs", times)
                try await times.command("SET", "{v}:attrver", .int(version))
                try await put(all, at: "{v}:attrs:staged", times)
                version += 1
            },
            {
                let taken = try await times.call("user_attributes_take", tag, .int(version), "staged")
                #expect(taken.int == 1)
            })
        let step = pairs(try self.step)
        try await times.expectShort("a load in one step, in the place of all") {
            version += 1
            try await times.all([
                .function("user_attributes_load", tag: tag, arguments: [.int(version)] + step)
            ])
        }
    }

    static func memberships(_ times: FunctionTimes) async throws {
        let tag = "{u}"
        let other = RedisArgument.string(long("channel", 50))
        let prepare = {
            try await times.all([
                RedisCommand(
                    "HSET", "{u}:session", "sid", "s1", "gateway", gateway, "channel", .string(long("channel")),
                    "leaving", .string(leaving), "turn", 1),
                RedisCommand("HSET", "{u}:box", "sid", "s1", "gateway", gateway),
            ])
        }
        try await prepare()
        try await times.expectShort("session_enter", tag, "enter", 0, "s1", .string(long("new")), 2)
        try await times.expectShort("session_entered", tag, "s1", .string(long("new")))
        try await prepare()
        try await times.expectShort("session_forgot", tag, "s1", other)
        try await prepare()
        try await times.expectShort("session_exit", tag, "s1", other, 3)
        try await prepare()
        try await times.expectShort("session_removed", tag, "s1", .string(long("channel")), 9, 1)
        try await prepare()
        try await times.expectShort("session_stay", tag, "s1", .string(long("channel")), other, 1)
        try await prepare()
        try await times.expectShort("session_restored", tag, "s1", .string(long("channel")))
        try await times.expectShort("session_acts", tag, 0, "s1", gateway)
    }
}
