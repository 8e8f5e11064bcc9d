import ClusterState
import Foundation
import NIOCore
import NIOPosix
import RedisClient
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisConnectionTests {
    @Test func commandsOfOneTickLeaveInOneWrite() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let reads = try await scene.information("total_reads_processed", section: "stats")
            let commands = (0..<1000).map { RedisCommand("ECHO", .int($0)) }
            let results = await scene.connection.execute(commands)
            #expect(try results.map { try $0.get().int } == (0..<1000).map { Int64($0) })
            // Redis reads up to 16 KiB at a time, so 30 KB take few reads; one read per command would be a thousand.
            let readsSince = try await scene.information("total_reads_processed", section: "stats") - reads
            #expect(readsSince < 10)
        }
    }

    @Test func largeValues() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            _ = try await scene.connection.execute(RedisCommand("SET", "big", .bytes(bytes)))
            let got = try await scene.connection.execute(RedisCommand("GET", "big"))
            #expect(got.bytes == bytes)
        }
    }

    @Test func errorRepliesAreFailuresOfTheirCommandOnly() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let results = await scene.connection.execute([
                RedisCommand("SET", "a", "x"), RedisCommand("INCR", "a"), RedisCommand("LPUSH", "a", "x"),
                RedisCommand("GET", "a"),
            ])
            #expect(
                results[1] == .failure(RedisError(code: .generic, message: "value is not an integer or out of range")))
            #expect(throws: RedisError.self) { try results[2].get() }
            let unharmed = try results[3].get().string
            #expect(unharmed == "x")
        }
    }

    @Test func reconnectsAfterKillAndKeepsWhatWaits() async throws {
        try await RedisScene.run(libraries: []) { scene in
            // By default Redis may answer before it writes to the file, when the disk is slow.
            _ = try await scene.connection.execute(RedisCommand("CONFIG", "SET", "appendfsync", "always"))
            _ = try await scene.connection.execute(RedisCommand("SET", "a", "before"))
            try await scene.server.kill()
            try await waitUntil("the outage") { scene.connection.isConnected ? "still connected" : nil }
            async let waiting = scene.connection.execute(RedisCommand("GET", "a"))
            try await scene.server.start()
            #expect(try await waiting.string == "before")
            #expect(scene.connection.connectionCount == 2)
        }
    }

    /// Sends retryable commands in one turn of the event loop.
    private static func sendRepeatedly(
        _ scene: RedisScene, _ commands: [RedisCommand], within time: TimeAmount, _ results: Recording<String>
    ) {
        scene.eventLoop.execute {
            for command in commands {
                scene.connection.send(command, repeatedUntil: .now() + time) { result in
                    switch result {
                    case .success(let value): results.add("\(value.int ?? -1)")
                    case .failure(let error): results.add(error.code.rawValue)
                    }
                }
            }
        }
    }

    @Test func whatMayBeSentAgainIsWhenTheConnectionBreaks() async throws {
        try await RedisScene.run(libraries: []) { scene in
            _ = try await scene.connection.execute(RedisCommand("PING"))
            await scene.server.freeze(true)
            let results = Recording<String>()
            let commands = (0..<100).map { RedisCommand("RPUSH", "list", .int($0)) }
            Self.sendRepeatedly(scene, commands, within: .seconds(60), results)
            let unrepeated = Task { try await scene.connection.execute(RedisCommand("RPUSH", "list", "once")) }
            // The commands were written to the socket but never executed.
            for _ in 0..<10 { try await scene.eventLoop.submit {}.get() }
            try await scene.server.kill()
            try await scene.server.start()
            await #expect(throws: RedisError.self) { try await unrepeated.value }
            try await results.wait(for: 100, "answers")
            #expect(results.all == (1...100).map { "\($0)" })
            let list = try await scene.connection.execute(RedisCommand("LRANGE", "list", 0, -1))
            #expect(list.array?.compactMap(\.int) == (0..<100).map { Int64($0) })
        }
    }

    @Test func whatMayBeSentAgainEndsAtItsDeadline() async throws {
        try await RedisScene.run(libraries: []) { scene in
            _ = try await scene.connection.execute(RedisCommand("PING"))
            await scene.server.freeze(true)
            let start = ContinuousClock.now
            let results = Recording<String>()
            Self.sendRepeatedly(scene, [RedisCommand("PING")], within: .milliseconds(300), results)
            try await results.wait(for: 1, "end")
            #expect(results.all == ["TIMEOUT"])
            #expect(start.duration(to: .now) < .seconds(3))
            // The timed-out command's answer still arrives, and must not be taken for another command's.
            async let next = scene.connection.execute(RedisCommand("ECHO", "mine"))
            await scene.server.freeze(false)
            #expect(try await next.string == "mine")
        }
    }

    @Test func keepsTheClockOfRedis() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let present = try #require(try await scene.connection.execute(RedisCommand("TIME")).time)
            let now = try #require(scene.connection.clock(ofSlot: 0)?.now)
            #expect(now - present < .seconds(1) && present - now < .seconds(1))
        }
    }

    @Test func whatWasWrittenFailsAsClosed() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let killer = try await scene.otherConnection()
            let id = try await scene.connection.execute(RedisCommand("CLIENT", "ID")).int ?? 0
            async let blocked = scene.connection.execute(RedisCommand("BLPOP", "nothing", 0))
            try await waitUntil("a blocked client") {
                let text = try await killer.execute(RedisCommand("INFO", "clients")).string ?? ""
                return text.contains("blocked_clients:1") ? nil : "none"
            }
            _ = try await killer.execute(RedisCommand("CLIENT", "KILL", "ID", .int64(id)))
            do {
                _ = try await blocked
                Issue.record("no error")
            } catch {
                #expect((error as? RedisError)?.code == .closed)
            }
            #expect(try await scene.connection.execute(RedisCommand("PING")).string == "PONG")
            await killer.close()
        }
    }

    @Test func whatTimesOutFailsInItsTurn() async throws {
        func impatient(_ configuration: inout RedisConfiguration) { configuration.commandTimeout = .milliseconds(1500) }
        try await RedisScene.run(libraries: [], configure: impatient) { scene in
            _ = try await scene.connection.execute(RedisCommand("PING"))
            await scene.server.freeze(true)
            let ended = Recording<String>()
            let connection = scene.connection
            for name in ["first", "second", "third"] {
                connection.eventLoop.execute {
                    connection.send(RedisCommand("PING")) { _ in ended.add(name) }
                }
                try await letPass(.milliseconds(100), "each is asked, and times out, later than the one before")
            }
            try await ended.wait(for: 3, "ends")
            await scene.server.freeze(false)
            #expect(ended.all == ["first", "second", "third"])
        }
    }

    /// The system would go on sending it, and Redis would execute it when it is reached again, after newer commands.
    @Test func whatRedisHasNotReceivedIsNeverSentOnceTheConnectionIsGivenUp() async throws {
        func impatient(_ configuration: inout RedisConfiguration) { configuration.commandTimeout = .milliseconds(1500) }
        try await RedisScene.run(libraries: [], configure: impatient) { scene in
            _ = try await scene.connection.execute(RedisCommand("PING"))
            await scene.server.freeze(true)
            // More than the buffers of both sockets hold.
            let mebibyte = [UInt8](repeating: 1, count: 1 << 20)
            let results = await scene.connection.execute(
                (0..<32).map { _ in RedisCommand("APPEND", "big", .bytes(mebibyte)) })
            #expect(results.allSatisfy { (try? $0.get()) == nil })
            let port = scene.server.port
            try await waitUntil("nothing to be sent") { try Self.unsentBytes(toPort: port).map { "\($0) bytes" } }
            await scene.server.freeze(false)
        }
    }

    /// How much the system has still to send to a port of this machine; nil for nothing.
    private static func unsentBytes(toPort port: Int) throws -> Int? {
        // A line each: number, local and remote address, state, bytes to be sent and read, all in hexadecimal.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/net/tcp"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        let sockets = text.split(separator: "\n").dropFirst()
        try #require(!sockets.isEmpty)
        let bytes = sockets.map { line in
            let fields = line.split(separator: " ")
            let remote = fields[2].split(separator: ":"), queues = fields[4].split(separator: ":")
            return Int(remote[1], radix: 16) == port ? Int(queues[0], radix: 16) ?? 0 : 0
        }.reduce(0, +)
        return bytes == 0 ? nil : bytes
    }

    @Test func aServerThatDoesNotAnswerTimesOut() async throws {
        func impatient(_ configuration: inout RedisConfiguration) { configuration.commandTimeout = .milliseconds(1500) }
        try await RedisScene.run(libraries: [], configure: impatient) { scene in
            _ = try await scene.connection.execute(RedisCommand("PING"))
            await scene.server.freeze(true)
            let first = await scene.connection.execute([RedisCommand("PING"), RedisCommand("PING")])
            await scene.server.freeze(false)
            #expect(
                first.first == .failure(RedisError(code: .timeout, message: "no answer within the command timeout")))
            try await waitUntil("a new connection") { scene.connection.connectionCount < 2 ? "not yet" : nil }
            #expect(try await scene.connection.execute(RedisCommand("PING")).string == "PONG")
        }
    }

    @Test func boundsOfWhatWaits() async throws {
        func narrow(_ configuration: inout RedisConfiguration) {
            configuration.maxPendingCommands = 3
            configuration.maxPendingBytes = 1000
        }
        try await RedisScene.run(libraries: [], configure: narrow) { scene in
            let codes = await scene.connection.execute((0..<5).map { _ in RedisCommand("PING") }).map { result in
                if case .failure(let error) = result { error.code.rawValue } else { "ok" }
            }
            #expect(codes == ["ok", "ok", "ok", "FULL", "FULL"])
            let large = RedisCommand("ECHO", .bytes(Array(repeating: 1, count: 2000)))
            await #expect { try await scene.connection.execute(large) } throws: { ($0 as? RedisError)?.code == .full }
            // An answered command frees its room.
            let answer = try await scene.connection.execute(RedisCommand("PING"))
            #expect(answer.string == "PONG")
        }
    }

    @Test func closedConnection() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let other = try await scene.otherConnection()
            await other.close()
            #expect(!other.isConnected)
            await #expect { try await other.execute(RedisCommand("PING")) } throws: {
                ($0 as? RedisError)?.code == .closed
            }
        }
    }

    @Test func whatIsGatheredIsSentWithTheTurnItCameIn() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let answers = Recording<String>()
            scene.eventLoop.execute {
                let connection = scene.connection
                connection.beforeWriting {
                    connection.send(RedisCommand("ECHO", "gathered")) {
                        answers.add((try? $0.get().string) ?? "failed")
                    }
                    connection.beforeWriting {
                        connection.send(RedisCommand("ECHO", "later")) {
                            answers.add((try? $0.get().string) ?? "failed")
                        }
                    }
                }
                connection.send(RedisCommand("ECHO", "sent")) { answers.add((try? $0.get().string) ?? "failed") }
            }
            try await answers.wait(for: 3, "answers")
            #expect(answers.all == ["sent", "gathered", "later"])
        }
    }

    @Test func passwordUserAndDatabase() async throws {
        let server = try await RedisServer(appendOnly: false, password: "s3cret/ß")
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let admin = RedisClient(
            configuration: try server.configuration, eventLoop: loop, logger: RedisScene.logger)
        admin.start()
        _ = try await admin.execute(RedisCommand("ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all"))
        let user = RedisClient(
            configuration: try RedisConfiguration(url: "redis://ann:pw@127.0.0.1:\(server.port)/5"), eventLoop: loop,
            logger: RedisScene.logger)
        user.start()
        #expect(try await user.execute(RedisCommand("ACL", "WHOAMI")).string == "ann")
        #expect(try await user.execute(RedisCommand("CLIENT", "INFO")).string?.contains(" db=5 ") == true)
        var wrong = try RedisConfiguration(url: "redis://:wrong@127.0.0.1:\(server.port)")
        wrong.commandTimeout = .milliseconds(200)
        let refused = RedisClient(configuration: wrong, eventLoop: loop, logger: RedisScene.logger)
        refused.start()
        await #expect { try await refused.execute(RedisCommand("PING")) } throws: {
            ($0 as? RedisError)?.code == .timeout
        }
        for connection in [admin, user, refused] { await connection.close() }
        try await server.remove()
    }

    @Test func tlsIsVerified() async throws {
        let server = try await RedisServer(appendOnly: false, tls: true)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let trusting = RedisClient(
            configuration: try server.configuration, eventLoop: loop, logger: RedisScene.logger)
        trusting.start()
        let text = String(repeating: "x", count: 200_000)
        #expect(try await trusting.execute(RedisCommand("ECHO", .string(text))).string == text)
        var byDefault = try RedisConfiguration(url: "rediss://127.0.0.1:\(server.port)")
        byDefault.commandTimeout = .milliseconds(500)
        let distrusting = RedisClient(configuration: byDefault, eventLoop: loop, logger: RedisScene.logger)
        distrusting.start()
        await #expect { try await distrusting.execute(RedisCommand("PING")) } throws: {
            ($0 as? RedisError)?.code == .timeout
        }
        for connection in [trusting, distrusting] { await connection.close() }
        try await server.remove()
    }
}
