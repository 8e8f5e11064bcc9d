import InvitationServer
import RedisStore
import SignalingProtocol
import Testing

/// Calls the functions of timers, streams, leases and calls.
extension FunctionDrivers {
    static func timers(_ times: FunctionTimes) async throws {
        let tag = "due:a-service"
        for part in 0..<100 {
            var timers = RedisCommand("ZADD", .string(tag))
            for number in 0..<1000 {
                timers.append(.int(number))
                timers.append(.string("expiry:\(long("channel", part * 1000 + number))"))
            }
            try await times.all([timers])
        }
        let page = 100
        var claimed: [RedisArgument] = []
        try await times.expectShort("heliograph_due_claim") {
            let reply = try await times.call("heliograph_due_claim", tag, .int(page), 10_000)
            claimed = (reply.array ?? []).map { value in value.string.map { .string($0) } ?? .int64(value.int ?? 0) }
            #expect(claimed.count == 2 * page)
        }
        try await times.expectShort("heliograph_due_done") {
            try await times.all([.function("heliograph_due_done", tag: tag, arguments: claimed)])
        }
        try await times.expectShort("heliograph_due_set", tag, 1, .string(long("a timer")))
    }

    static func streams(_ times: FunctionTimes) async throws {
        // The largest command, to a stream that is trimmed.
        let words: [RedisArgument] = [
            "MAXLEN", "~", 1000, "*", "c", .string(String(repeating: "x", count: Limits.frameBytes)),
        ]
        for _ in 0..<1100 {
            try await times.all([.function("heliograph_append", tag: "cmd:a-service", arguments: words)])
        }
        try await times.expectShort("heliograph_append") {
            try await times.all([.function("heliograph_append", tag: "cmd:a-service", arguments: words)])
        }
    }

    static func gateways(_ times: FunctionTimes) async throws {
        let text = RedisArgument.string(String(repeating: "{", count: 500))
        func keys(_ id: String) -> [String] {
            ["bridge:\(id)", "bridges", "bridges:draining", "due:invitation", "{bridge:\(id)}:calls"]
        }
        func call(_ function: String, _ id: String, _ arguments: RedisArgument...) -> RedisCommand {
            .function(function, keys: keys(id), arguments: arguments)
        }
        func heartbeat(_ id: String) -> RedisCommand {
            call("gateway_heartbeat", id, .string(id), text, 60_000, 1, 60_000)
        }
        let ids = (0..<300).map { "bridge-with-a-name-\($0)" }
        try await times.all(ids.map(heartbeat))
        try await times.expectShort("gateway_heartbeat") { try await times.all([heartbeat(ids[0])]) }
        try await times.expectShort("gateway_list") {
            let reply = try await times.connection.execute(call("gateway_list", "", "bridge:", 60_000))
            #expect(reply.array?.count == 2 * ids.count)
        }
        try await times.expectShort("gateway_leave") { try await times.all([call("gateway_leave", ids[0], "x")]) }
        try await times.expectShort("gateway_lost") { try await times.all([call("gateway_lost", ids[0], "x")]) }
        try await times.expectShort(
            "gateway_forget",
            after: {
                for part in 0..<50 {
                    let calls = (0..<1000).map { RedisArgument.string(long("call", part * 1000 + $0)) }
                    try await times.all([
                        RedisCommand("SADD", arguments: [.string("{bridge:\(ids[0])}:calls")] + calls)
                    ])
                }
            },
            { try await times.all([call("gateway_forget", ids[0], "x")]) })
    }

    static func calls(_ times: FunctionTimes) async throws {
        let tag = "{call}"
        let extra = RedisArgument.string(String(repeating: "x", count: Limits.messageBytes))
        var fields: [RedisArgument] = (0..<30).flatMap { [.string("field\($0)"), "a short value"] }
        for number in 0..<3 { fields += [.string("extra\(number)"), extra] }
        var number = 0
        var version = 0
        try await times.expectShort("call_commit") {
            number += 1
            let head: [RedisArgument] = [
                .string("commit\(number)"), 0, .int(version), 60_000,
                .string(String(repeating: "o", count: 4 * Limits.messageBytes)), 3, extra, extra, extra,
            ]
            let reply = try await times.connection.execute(
                .function("call_commit", keys: [tag, "mirror:invitation"], arguments: head + fields))
            #expect(reply.array?.first?.int == 0)
            version = try await times.command("HGET", "{call}:call", "ver").string.flatMap { Int($0) } ?? 0
        }
        try await times.expectShort("call_load", tag, .string("commit\(number)"))
        // As many calls as a user may have, all of them over.
        func remember(until time: Int) async throws {
            let calls = (0..<Limits.callsPerUser).flatMap { call -> [RedisArgument] in
                [.int(time + call), .string("call\(call) \(long("tag", call))\(long("tag", call))")]
            }
            try await times.all([RedisCommand("ZADD", arguments: ["{user}:calls"] + calls)])
        }
        try await remember(until: 1 << 50)
        try await times.expectShort("call_party", "{user}")
        try await times.expectShort("call_list", "{user}", 500, 250)
        try await times.expectShort("call_forget", "{user}", "call1")
        try await times.expectShort(
            "call_remember", after: { try await remember(until: 1) },
            { try await times.call("call_remember", "{user}", .string(long("a call")), 60_000) })
        let newCalls = Limits.newPhoneCallsPerApp
        try await times.expectShort(
            "line_take",
            after: {
                number += 1
                let dialled = (0..<newCalls).flatMap { [.int($0), .string(long("dialled", $0))] as [RedisArgument] }
                try await times.all([
                    RedisCommand("ZADD", arguments: ["{app}:dialled"] + dialled),
                    RedisCommand("ZADD", arguments: ["{app}:lines"] + dialled),
                ])
            },
            {
                let lines = RedisArgument.int(Limits.phoneCallsPerApp)
                let reply = try await times.call(
                    "line_take", "{app}", .string("call\(number)"), 60_000, lines, .int(newCalls))
                #expect(reply.int == 0)
            })
        try await times.expectShort("line_keep", "{app}", .string("call\(number)"), .int64(1 << 50))
        try await times.expectShort("line_free", "{app}", .string("call\(number)"))
    }
}
