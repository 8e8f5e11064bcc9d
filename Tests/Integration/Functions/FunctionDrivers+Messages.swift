import MessageStore
import RedisClient
import SignalingProtocol
import Testing

/// Calls the functions of mail and of channels' logs. For the cost of one full mailbox by the length of its lines,
/// see MailSlowlogTests.
extension FunctionDrivers {
    private static let gateway: RedisArgument = "gateway-1"

    private static func tag(_ number: Int) -> String { "{u\(number)}" }

    /// What a function call has with a message from each of these users to each of them.
    private static func arguments(
        _ users: Range<Int>, bytes: Int, life: Int = 600_000, entries: Int = Limits.mailboxEntries, command: String = ""
    ) -> [RedisArgument] {
        let line = RedisArgument.string(String(repeating: "x", count: bytes))
        var arguments: [RedisArgument] = [
            gateway, 0, command.isEmpty ? "0" : "1", 0, .int(life), .int(entries), .int(Limits.mailboxBytes),
        ]
        for number in users {
            arguments += [.string(tag(number)), "s1", line]
            if !command.isEmpty { arguments.append(.string("\(command)-\(number)")) }
        }
        return arguments
    }

    private static func messages(
        _ users: Range<Int>, bytes: Int, life: Int = 600_000, entries: Int = Limits.mailboxEntries, command: String = ""
    ) -> RedisCommand {
        .function(
            "messages_to_users", keys: users.map(tag),
            arguments: arguments(users, bytes: bytes, life: life, entries: entries, command: command))
    }

    /// Messages of which webhooks are told.
    private static func toldMessages(_ users: Range<Int>, bytes: Int, command: String) -> RedisCommand {
        .function(
            "messages_to_users_told", keys: users.map(tag),
            arguments: arguments(users, bytes: bytes, command: command))
    }

    private static func clear(_ versions: [Int64]) -> RedisCommand {
        .function(
            "mailboxes_clear", keys: versions.indices.map(tag),
            arguments: [gateway] + versions.flatMap { ["s1", .int64($0)] })
    }

    /// The versions that a call returned.
    private static func versions(_ times: FunctionTimes, _ command: RedisCommand) async throws -> [Int64] {
        (try await times.connection.execute(command).array ?? []).map { $0.int ?? 0 }
    }

    static func messages(_ times: FunctionTimes) async throws {
        let users = 0..<MailboxBatch.bound
        for number in users {
            try await times.command("HSET", .string("\(tag(number)):box"), "sid", "s1", "gateway", gateway)
        }
        var number = 0
        // The bounds of MailboxBatch: a number of messages, or a number of bytes.
        for (count, bytes) in [(users.count, 60), (users.count, 1024), (MailboxBatch.byteBound / 8192, 8192)] {
            try await times.expectShort("\(count) messages of \(bytes) bytes") {
                number += 1
                try await times.all([messages(0..<count, bytes: bytes, command: "c\(number)")])
            }
            try await times.expectShort("\(count) messages of \(bytes) bytes of which webhooks are told") {
                number += 1
                try await times.all([toldMessages(0..<count, bytes: bytes, command: "c\(number)")])
            }
        }
        try await acknowledgements(times, users)
        try await fullMailboxes(times)
        try await callEvents(times)
        try await servers(times)
        try await logs(times)
        try await times.expectShort("messages_awake") {
            try await times.all([RedisCommand.function("messages_awake", keys: [], arguments: [])])
        }
    }

    private static func acknowledgements(_ times: FunctionTimes, _ users: Range<Int>) async throws {
        var last: [Int64] = []
        try await times.expectShort(
            "all but the last entry of many mailboxes acknowledged at once",
            after: {
                // The clock follows the versions.
                for _ in 0..<100 { last = try await versions(times, messages(users, bytes: 60)).dropLast() }
                try await times.all([messages(users, bytes: 60)])
            },
            {
                let cleared = try await versions(times, clear(last))
                #expect(cleared == last)
            })
        try await times.expectShort("mailbox_remove", tag(0), .int64(last[0] + 1))
    }

    /// Mailboxes full of expired messages, each of which is searched when the next message arrives.
    private static func fullMailboxes(_ times: FunctionTimes) async throws {
        let users = 100..<110
        let entries = 600
        for user in users {
            try await times.command("HSET", .string("\(tag(user)):box"), "sid", "s1", "gateway", gateway)
        }
        try await times.expectShort(
            "messages to full mailboxes",
            after: {
                for user in users {
                    try await times.command("UNLINK", .string("\(tag(user)):mbox"))
                    try await times.command(
                        "HDEL", .string("\(tag(user)):box"), "expires", "total", "off", "gone", "purged", "swept")
                }
                // The first message does not expire, so that the mailbox stays.
                try await times.all([messages(users, bytes: 60)])
                try await times.all((1..<entries).map { _ in messages(users, bytes: 60, life: 1) })
                let waiting = try await times.command("XLEN", .string("\(tag(users.lowerBound)):mbox"))
                #expect(waiting.int == Int64(entries))
            },
            { try await times.all([messages(users, bytes: 60, entries: entries)]) })
        // The last one was not searched: all that was looked at is given, or deleted.
        try await times.expectShort("mailbox_read", tag(users.upperBound - 1), "s1", gateway, 0, 512, 1)
        // The others have their turn with the next messages.
        for _ in users { try await times.all([messages(users, bytes: 60, entries: entries)]) }
        for user in users {
            let left = try await times.command("XLEN", .string("\(tag(user)):mbox")).int ?? 0
            #expect(left < entries / 2)
        }
    }

    /// Mailboxes that apps' servers list and empty.
    private static func servers(_ times: FunctionTimes) async throws {
        let users = 200..<203
        for number in users {
            try await times.command("HSET", .string("\(tag(number)):box"), "sid", "s1", "gateway", gateway)
        }
        // As many entries as one call may read, one of them expired, and more.
        for _ in 0..<7 { try await times.all((0..<100).map { _ in messages(users, bytes: 60) }) }
        let last = try await versions(times, messages(users, bytes: 60))
        try await times.expectShort("mailbox_list", tag(200), 0, 1000)
        try await times.expectShort("mailbox_empty", tag(201), 0, "")
        try await times.command("HSET", .string("\(tag(202)):box"), "gateway", "", "held", "0 0", "pver", "0")
        try await times.expectShort("mailbox_recall", tag(202), "recall", .int64(last[2] - 1))
        try await times.command("HSET", .string("\(tag(202)):box"), "gateway", gateway)
        // Of which the most part was read, and was not removed yet.
        let lines = (0..<100).map { _ in messages(202..<203, bytes: 60) }
        try await times.expectShort(
            "a list after all was read",
            after: {
                for _ in 0..<20 { try await times.all(lines) }
                let ver = try await times.command("HGET", .string("\(tag(202)):box"), "ver").int ?? 0
                try await times.all([messages(202..<203, bytes: 60)])
                try await times.command("HSET", .string("\(tag(202)):box"), "clear", .int64(ver))
            },
            { try await times.all([RedisCommand.function("mailbox_list", tag: tag(202), 0, 1000)]) })
    }

    private static func callEvents(_ times: FunctionTimes) async throws {
        let tag = "{callee}"
        let line = RedisArgument.string(String(repeating: "x", count: Limits.messageBytes))
        func event(_ number: Int) -> RedisCommand {
            .function(
                "message_to_user", tag: tag,
                arguments: [
                    "", line, 60_000, .int(Limits.mailboxCallEvents), 0, "voip_invite", .string("call\(number)"), "",
                    "", "",
                ])
        }
        try await times.all((1..<Limits.mailboxCallEvents).map(event))
        try await times.expectShort("the last call event that has room") { try await times.all([event(0)]) }
        try await times.expectShort("a call event too many") {
            _ = try? await times.connection.execute(event(Limits.mailboxCallEvents))
        }
    }

    private static func logs(_ times: FunctionTimes) async throws {
        let body = RedisArgument.string(String(repeating: "x", count: Limits.messageBytes))
        try await times.all([
            RedisCommand("HSET", "{c}:info", "anna", "7 s1"), RedisCommand("ZADD", "{c}:members", 1, "anna"),
        ])
        func say(_ function: String = "message_to_channel") -> RedisCommand {
            .function(
                function, keys: ["{c}"], arguments: ["", "anna", 7, "s1", gateway, 0, 1_000_000, body, ""])
        }
        // Slightly more than a log keeps, so that the next message trims it.
        for _ in 0..<21 { try await times.all((0..<100).map { _ in say() }) }
        for function in ["message_to_channel", "announcement_to_channel"] {
            try await times.expectShort(function) { try await times.all([say(function)]) }
        }
        try await times.expectShort("channel_log", "{c}", 1, 0, 2000)
        try await times.expectShort("channel_log_back", "{c}", 0, 0, 2000)
    }
}
