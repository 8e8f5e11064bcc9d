import ClusterBus
import InvitationServer
import MessageStore
import RedisClient
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
        // All messages of a batch, which webhooks are told of.
        let message = RedisArgument.string(String(repeating: "x", count: 300))
        let batch = ["1000", "m"] + [RedisArgument](repeating: message, count: MailboxBatch.bound)
        try await times.expectShort("mirror_append") {
            try await times.all([.function("mirror_append", tag: "mirror:messages", arguments: batch)])
        }
    }

    static func gateways(_ times: FunctionTimes) async throws {
        let text = RedisArgument.string(String(repeating: "{", count: 500))
        try await times.expectShort("lease_renew", "{g:1}:lease", text, 60_000, 60_000)
        try await times.expectShort("lease_forget", "{g:1}:lease", 60_000)
        try await times.expectShort("lease_watch", "due:presence", "gateway 1", 60_000)

        let keys = ["{control}gateways", "{control}gateways:records"]
        func announce(_ id: String) -> RedisCommand {
            .function("lease_announce", keys: keys, arguments: [.string(id), text])
        }
        let living = (0..<5000).map { "gateway-with-a-name-\($0)" }
        try await times.all(living.map(announce))
        try await times.expectShort("lease_announce") { try await times.all([announce(living[0])]) }
        try await times.expectShort(
            "lease_sample",
            after: {
                // More that have ended than one call removes.
                let ended = (0..<1000).map { "ended-\($0)" }
                try await times.all(ended.map(announce))
                let scores = ended.flatMap { [1, .string($0)] as [RedisArgument] }
                try await times.all([RedisCommand("ZADD", arguments: [.string(keys[0])] + scores)])
            },
            {
                let size = GatewayLeases.sampleSize
                let reply = try await times.connection.execute(
                    .function("lease_sample", keys: keys, arguments: [600_000, .int(size)]))
                // Most of them live.
                #expect((reply.array?.count ?? 0) > size)
            })
    }

    static func calls(_ times: FunctionTimes) async throws {
        try await commits(times)
        try await callsOfAUser(times)
        try await lines(times)
    }

    private static func commits(_ times: FunctionTimes) async throws {
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
    }

    /// As many calls as a user may have, all of them over.
    private static func callsOfAUser(_ times: FunctionTimes) async throws {
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
    }

    /// As many calls of telephones as an app may have, all of them over.
    private static func lines(_ times: FunctionTimes) async throws {
        let newCalls = Limits.newPhoneCallsPerApp
        var number = 0
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
