import BusProtocol
import RedisClient
import SignalingProtocol
import Testing

/// Calls the functions that work on a channel's keys.
extension FunctionDrivers {
    private static let tag = "{c}"
    /// The number of the channel's members.
    private static let present = 50_000
    private static let sid: RedisArgument = "s-0123456789abcdef"

    /// Fills a channel with members, attributes and log entries up to their bounds, with
    /// all of the system's counters on.
    private static func fill(_ times: FunctionTimes) async throws {
        for part in 0..<present / 1000 {
            var members = RedisCommand("ZADD", "{c}:members")
            var info = RedisCommand("HSET", "{c}:info")
            for number in part * 1000 + 1...part * 1000 + 1000 {
                members.append(.int(number))
                members.append(.string(long("member", number)))
                info.append(.string(long("member", number)))
                info.append("4000000000 s-0123456789abcdef")
            }
            try await times.all([members, info])
        }
        try await times.command(
            "HSET", "{c}:state", "joins", 60_000, "_auto_update_num", 1, "_auto_update_total_num", 1, "num_told", 1,
            "total_told", 1, "seq", 1000, "id", 1)
        try await put(try attributes, at: "{c}:attrs", times)
        try await times.command("SET", "{c}:attrver", 1)
        let event = RedisArgument.string(String(repeating: "e", count: Limits.messageBytes))
        try await times.all((1...1000).map { RedisCommand("XADD", "{c}:log", .string("\($0)-0"), "e", event) })
    }

    static func members(_ times: FunctionTimes) async throws {
        try await fill(times)
        let joined = try await joins(times)
        let left = try await leaves(times, after: joined)
        try await reassertions(times, after: left)
        try await restrictions(times)
        try await times.expectShort("channel_members", tag, "+inf", 500)
        try await times.expectShort("channel_counters", tag)
        try await times.expectShort("channel_counter_tell", tag, "num")
    }

    /// - Returns: how many have joined.
    private static func joins(_ times: FunctionTimes) async throws -> Int {
        var number = 0
        func join() async throws {
            number += 1
            try await times.call(
                "channel_join", tag, .string("join\(number)"), 0, .string(long("newcomer", number)), .int(number), sid,
                0)
        }
        // Every join reads the attributes as well.
        func attributes() async throws { try await times.command("HGETALL", "{c}:attrs") }
        try await times.expectShort("a join that makes the list of the latest") {
            try await join()
            try await attributes()
        }
        try await times.expectShort("a join") {
            try await join()
            try await attributes()
        }
        try await times.expectShort(
            "a join that makes that list anew",
            after: { try await times.command("HSET", "{c}:state", "joins", .int(70_049 + 50 * number)) }, join)
        return number
    }

    /// - Parameter last: the number of the last that has joined.
    /// - Returns: the number of the last act.
    private static func leaves(_ times: FunctionTimes, after last: Int) async throws -> Int {
        var number = last
        func leave(_ name: String) async throws {
            number += 1
            try await times.call("channel_leave", tag, .string("leave\(number)"), 0, .string(name), sid, 0)
        }
        try await times.expectShort("a leave of one of the latest") { try await leave(long("newcomer", last)) }
        try await times.expectShort("a leave of another") { try await leave(long("member", number)) }
        return number
    }

    /// As many as a channel may have, of the longest names and reasons; then such as have ended, which are pruned.
    private static func restrictions(_ times: FunctionTimes) async throws {
        let reason = String(repeating: "r", count: ChannelRestriction.reasonBytes.upperBound)
        func fill(until: Int) async throws {
            var bars = RedisCommand("HSET", "{c}:bars")
            for number in 1...Limits.restrictionsPerChannel {
                bars.append(.string("ban " + long("barred", number)))
                bars.append(.string("\(until) 1 \(reason)"))
            }
            try await times.all([bars])
        }
        try await fill(until: 4_102_444_800)
        try await times.expectShort("channel_bars", tag, "ban", "", 1000)
        try await times.expectShort("channel_unbar", tag, "ban", .string(long("barred", 1)))
        try await fill(until: 5)
        var number = 0
        try await times.expectShort("channel_bar") {
            number += 1
            try await times.call(
                "channel_bar", tag, .string("bar\(number)"), 0, "mute", .string(long("other", number)), 4_102_444_800,
                .string(reason))
        }
        try await times.command("DEL", "{c}:bars")
        try await times.command("HDEL", "{c}:state", "barred")
    }

    /// One page of a reassertion, and members whose sessions are gone.
    private static func reassertions(_ times: FunctionTimes, after last: Int) async throws {
        var number = last
        try await times.expectShort("channel_reassert") {
            number += 1
            let held = (0..<250).flatMap { member -> [RedisArgument] in
                [.string(long("restored", number * 250 + member)), .int(UInt32.max), sid]
            }
            let reply = try await times.connection.execute(.function("channel_reassert", tag: tag, arguments: held))
            #expect(reply.array?.count == 253)
        }
        try await times.expectShort("channel_forget") {
            number += 1
            try await times.call("channel_forget", tag, .string(long("member", number)), sid, 1)
        }
        try await times.expectShort("channel_member_forgotten", tag, .string(long("nobody")), 7, 1)
    }

    /// Queues a hundred changes of the largest size, beginning with this version.
    private static func wait(from version: Int, _ times: FunctionTimes) async throws {
        let value = RedisArgument.string(String(repeating: "w", count: Limits.attributeValueBytes))
        for number in 0..<100 {
            let reply = try await times.call(
                "channel_attributes", tag, .int(version + number), .string(long("account")), 7, "update",
                .string("name\(number)"), value)
            #expect(reply.string == "waiting")
        }
        #expect(try await times.command("HLEN", "{c}:attrwait").int == 100)
    }

    static func channelAttributes(_ times: FunctionTimes) async throws {
        let version = try await changes(times)
        let reloaded = try await reload(times, after: version)
        try await reloadAtOnce(times, after: reloaded)
    }

    /// - Returns: the version of the last change.
    private static func changes(_ times: FunctionTimes) async throws -> Int {
        try await times.expectShort(
            "channel_attribute_begin", tag, "begin", 0, "name1", .int(Limits.channelAttributeChangesPerSecond), 1)
        let value = RedisArgument.string(String(repeating: "x", count: Limits.attributeValueBytes))
        var version = 1
        try await times.expectShort(
            "a change for which others wait",
            after: {
                version += 1000
                try await times.command("SET", "{c}:attrver", .int(version))
                try await wait(from: version + 2, times)
            },
            {
                let reply = try await times.call(
                    "channel_attributes", tag, .int(version + 1), .string(long("account")), 7, "update", "name1", value)
                #expect(reply.string == "applied")
            })
        // All of them are applied in the end, each when whoever waits for it looks again.
        var looks = 0
        while try await times.command("HLEN", "{c}:attrwait").int != 0 {
            let cached = try await times.command("GET", "{c}:attrver").string.flatMap { Int($0) } ?? 0
            try await times.call(
                "channel_attributes", tag, .int(cached + 1), .string(long("account")), 7, "update", "name1", value)
            looks += 1
            try #require(looks < 20)
        }
        #expect(try await times.command("GET", "{c}:attrver").string == "\(version + 101)")
        return version + 101
    }

    /// - Returns: the version of the last reload.
    private static func reload(_ times: FunctionTimes, after last: Int) async throws -> Int {
        var version = last + 1000
        try await times.expectShort("channel_reload", tag, "r", .int(version))
        func step(isLast: Bool) async throws {
            let head: [RedisArgument] = ["r", .int(version), .string(long("account")), 7, isLast ? 1 : 0]
            let reply = try await times.connection.execute(
                .function("channel_reload_step", tag: tag, arguments: head + (try updates)))
            #expect(reply.int == 1)
        }
        try await times.expectShort("a step of a reload") { try await step(isLast: false) }
        try await times.expectShort(
            "the last step of a reload for which changes wait",
            after: {
                version += 1000
                let reload = try await times.call("channel_reload", tag, "r", .int(version))
                #expect(reload.string == "differs")
                try await times.command("DEL", "{c}:attrwait")
                try await wait(from: version + 1, times)
            },
            { try await step(isLast: true) })
        return version
    }

    private static func reloadAtOnce(_ times: FunctionTimes, after last: Int) async throws {
        var version = last
        try await times.expectShort(
            "a reload at once, told",
            after: {
                try await times.command("DEL", "{c}:attrver")
                try await times.command("HSET", "{c}:state", "unloaded", 1)
            },
            {
                version += 1
                let reply = try await times.connection.execute(
                    .function(
                        "channel_reload_at_once", tag: tag,
                        arguments: [.int(version), .string(long("account")), 7] + (try updates)))
                #expect(reply.string == "begun")
            })
    }

    /// The attributes of a reload's step, as changes.
    private static var updates: [RedisArgument] {
        get throws { try step.flatMap { ["update", .string($0.name.rawValue), .string($0.value)] } }
    }

    static func channelLife(_ times: FunctionTimes) async throws {
        try await times.expectShort("channel_expiry", tag)
        try await put(try attributes, at: "{c}:attrs", times)
        // The same as if every member had left.
        try await times.command("DEL", "{c}:members")
        try await times.expectShort("channel_delete", tag, 0)
        try await times.expectShort("channel_adopt", tag)
    }
}
