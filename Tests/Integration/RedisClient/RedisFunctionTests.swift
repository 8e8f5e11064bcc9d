import ClusterBus
import ClusterState
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisFunctionTests {
    private static func library(_ name: String, answer: String) -> RedisFunctionLibrary {
        let source = """
            #!lua name=\(name)
            redis.register_function('\(name)_call', function(keys, args)
                if args[1] == 'refuse' then return {err = 'SIG 400 not_member no such member'} end
                redis.call('INCR', keys[1] .. ':calls')
                return '\(answer)'
            end)
            """
        return RedisFunctionLibrary(name: name, source: Array(source.utf8))
    }

    private static let call = RedisCommand.function("test_one_call", tag: "{t}")

    @Test func loadedAgainWhenFlushed() async throws {
        let libraries = [Self.library("test_one", answer: "one"), Self.library("test_two", answer: "two")]
        try await RedisScene.run(libraries: libraries) { scene in
            #expect(try await scene.connection.execute(Self.call).string == "one")
            _ = try await scene.connection.execute(RedisCommand("FUNCTION", "FLUSH"))
            let results = await scene.connection.execute(
                [Self.call, .function("test_two_call", tag: "{t}"), RedisCommand("PING"), Self.call])
            #expect(try results.map { try $0.get().string } == ["one", "two", "PONG", "one"])
            #expect(try await scene.connection.execute(RedisCommand("GET", "{t}:calls")).int == 4)
        }
    }

    @Test func callsKeepTheirOrderWhileLibrariesAreLoadedAgain() async throws {
        let source = """
            #!lua name=test_order
            redis.register_function('test_order_add', function(keys, args)
                return redis.call('RPUSH', keys[1], args[1])
            end)
            """
        let library = RedisFunctionLibrary(name: "test_order", source: Array(source.utf8))
        try await RedisScene.run(libraries: [library]) { scene in
            _ = try await scene.connection.execute(RedisCommand("FUNCTION", "FLUSH"))
            let results = Recording<Bool>()
            for number in 0..<2000 {
                try await scene.eventLoop.submit {
                    scene.connection.send(.function("test_order_add", tag: "{t}:list", .int(number))) {
                        results.add((try? $0.get()) != nil)
                    }
                }.get()
            }
            try await results.wait(for: 2000, "answers")
            let list = try await scene.connection.execute(RedisCommand("LRANGE", "{t}:list", 0, -1))
            #expect(list.array?.compactMap(\.int) == (0..<2000).map { Int64($0) })
        }
    }

    @Test func loadedAgainWhenRedisComesBackEmpty() async throws {
        try await RedisScene.run(appendOnly: false, libraries: [Self.library("test_one", answer: "one")]) { scene in
            #expect(try await scene.connection.execute(Self.call).string == "one")
            try await scene.server.kill()
            try await waitUntil("the outage") { scene.connection.isConnected ? "still connected" : nil }
            try await scene.server.start()
            #expect(try await scene.connection.execute(Self.call).string == "one")
            #expect(try await scene.connection.execute(RedisCommand("GET", "{t}:calls")).int == 1)
        }
    }

    @Test func aFunctionOfNoLibraryFails() async throws {
        try await RedisScene.run(libraries: [Self.library("test_one", answer: "one")]) { scene in
            await #expect { try await scene.connection.execute(.function("test_missing", tag: "{t}")) } throws: {
                ($0 as? RedisError) == RedisError(code: .generic, message: "Function not found")
            }
        }
    }

    @Test func errorsOfFunctions() async throws {
        try await RedisScene.run(libraries: [Self.library("test_one", answer: "one")]) { scene in
            await #expect {
                try await scene.connection.execute(.function("test_one_call", tag: "{t}", "refuse"))
            } throws: {
                ($0 as? RedisError)?.signaling.description == "400 not_member: no such member"
            }
        }
    }

    /// A library with versioned function names, like those of the cluster.
    private static func versioned(answer: String) -> RedisFunctionLibrary {
        let part = """
            redis.register_function('test_one_call', function() return '\(answer)' end)
            """
        return RedisFunctionLibrary(name: "test_one", parts: [Array(part.utf8)])
    }

    @Test func versionsLiveSideBySide() async throws {
        try await RedisScene.run(libraries: [Self.versioned(answer: "old")]) { scene in
            #expect(try await scene.connection.execute(Self.call).string == "old")
            let newer = RedisClient(
                configuration: try scene.server.configuration, eventLoop: scene.eventLoop,
                libraries: [Self.versioned(answer: "new")], logger: RedisScene.logger)
            newer.start()
            #expect(try await newer.execute(Self.call).string == "new")
            #expect(try await scene.connection.execute(Self.call).string == "old")
            // Each connection keeps its own version, also when the older one reconnects.
            let killer = try await scene.otherConnection()
            _ = try await killer.execute(RedisCommand("CLIENT", "KILL", "SKIPME", "yes"))
            try await waitUntil("both to be back") {
                newer.connectionCount == 2 && scene.connection.connectionCount == 2 ? nil : "not yet"
            }
            #expect(try await newer.execute(Self.call).string == "new")
            #expect(try await scene.connection.execute(Self.call).string == "old")
            _ = try await killer.execute(RedisCommand("FUNCTION", "FLUSH"))
            #expect(try await newer.execute(Self.call).string == "new")
            #expect(try await scene.connection.execute(Self.call).string == "old")
            await killer.close()
            await newer.close()
        }
    }

    @Test func aLibraryThatIsThereIsNotReadAgain() async throws {
        try await RedisScene.run(libraries: [Self.versioned(answer: "x")]) { scene in
            _ = try await scene.connection.execute(Self.call)
            let same = RedisClient(
                configuration: try scene.server.configuration, eventLoop: scene.eventLoop,
                libraries: [Self.versioned(answer: "x")], logger: RedisScene.logger)
            same.start()
            #expect(try await same.execute(Self.call).string == "x")
            let listed = try await scene.connection.execute(RedisCommand("FUNCTION", "LIST")).array
            #expect(listed?.count == 1)
            await same.close()
            let statistics = try await scene.connection.execute(RedisCommand("INFO", "commandstats")).string ?? ""
            #expect(statistics.contains("cmdstat_function|load:calls=1,"))
        }
    }

    /// A connection of a program that keeps one version of such a library loaded.
    private static func program(_ scene: RedisScene, answer: String) throws -> RedisClient {
        let part = "redis.register_function('test_two_call', function() return '\(answer)' end)"
        let library = RedisFunctionLibrary(name: "heliograph_test", parts: [Array(part.utf8)])
        let program = RedisClient(
            configuration: try scene.server.configuration, eventLoop: scene.eventLoop, libraries: [library],
            logger: RedisScene.logger)
        program.start()
        return program
    }

    /// The number of the programs' libraries that are loaded, and the libraries that are registered by name.
    private static func libraries(_ scene: RedisScene) async throws -> (present: Int, named: [String]) {
        let list = RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", "heliograph_test_*")
        let present = try await scene.connection.execute(list).array?.count ?? 0
        let named =
            try await scene.connection.execute(RedisCommand("ZRANGE", .string(KeySpace.libraries), 0, -1)).array ?? []
        return (present, named.compactMap(\.string).filter { $0.hasPrefix("heliograph_test_") })
    }

    @Test func aLibraryThatNobodyUsedForAWeekIsDeletedAndLoadedAgainWhenMissed() async throws {
        try await RedisScene.run { scene in
            let call = RedisCommand.function("test_two_call", tag: "{t}")
            let older = try Self.program(scene, answer: "old")
            try await waitUntil("the older program's libraries to be named") {
                try await Self.libraries(scene).named.count == 1 ? nil : "not yet"
            }
            let name = try #require(try await Self.libraries(scene).named.first)
            // A second program that starts a moment later leaves the older library in place.
            let newer = try Self.program(scene, answer: "new")
            try await waitUntil("the newer program's libraries to be named") {
                try await Self.libraries(scene).named.count == 2 ? nil : "not yet"
            }
            #expect(try await Self.libraries(scene).present == 2)
            await newer.close()
            // As if a week had passed.
            _ = try await scene.connection.execute(RedisCommand("ZADD", .string(KeySpace.libraries), 1, .string(name)))
            let later = try Self.program(scene, answer: "new")
            try await waitUntil("the older library to be deleted") {
                let (present, named) = try await Self.libraries(scene)
                return present == 1 && named.count == 1 && named != [name] ? nil : "\(present) \(named)"
            }
            #expect(try await later.execute(call).string == "new")
            // A program that still needs the library loads it again.
            #expect(try await older.execute(call).string == "old")
            #expect(try await later.execute(call).string == "new")
            await later.close()
            await older.close()
        }
    }
}
