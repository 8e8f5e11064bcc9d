import ClusterState
import RedisClient
import SignalingProtocol
import Testing

/// How many commands the functions of presence make Redis carry out, themselves included.
@Suite struct SessionCommandCountTests {
    private static let tag = "{37x}a:app:u:anna"

    /// The commands that `act` causes, the least of several attempts: the connection asks for the time now and then.
    /// - Parameter act: gets the number of the attempt.
    private func count(
        _ scene: RedisScene, after prepare: (Int) async throws -> Void, _ act: (Int) async throws -> Void
    ) async throws -> Int {
        var least = Int.max
        for attempt in 0..<3 {
            try await prepare(attempt)
            _ = try await scene.connection.execute(RedisCommand("CONFIG", "RESETSTAT"))
            try await act(attempt)
            let text = try await scene.connection.execute(RedisCommand("INFO", "commandstats")).string ?? ""
            let calls = text.split(whereSeparator: \.isNewline).compactMap { line -> Int? in
                guard let found = line.wholeMatch(of: #/cmdstat_([^:]+):calls=(\d+),.*/#),
                    !["config|resetstat", "info"].contains(found.output.1)
                else { return nil }
                return Int(found.output.2)
            }
            least = min(least, calls.reduce(0, +))
        }
        return least
    }

    @Test func eachActTakesFewCommands() async throws {
        try await RedisScene.run(appendOnly: false, libraries: [.presence]) { scene in
            let functions = SessionFunctions(connection: scene.connection, tag: Self.tag)
            func empty(_: Int) async throws { _ = try await scene.connection.execute(RedisCommand("FLUSHDB")) }
            func opened(_ attempt: Int) async throws {
                try await empty(attempt)
                try await functions.open("s\(attempt)")
            }
            let login = try await count(scene, after: empty) { try await functions.open("s\($0)") }
            #expect(login == 7)
            let replacing = try await count(scene, after: opened) { try await functions.open("t\($0)") }
            #expect(replacing == 19)
            let resumed = try await count(scene, after: opened) { try await functions.resume("s\($0)", at: "g1") }
            #expect(resumed == 11)
            let moved = try await count(scene, after: opened) { try await functions.resume("s\($0)", at: "g2") }
            #expect(moved == 13)
            let detached = try await count(scene, after: opened) { attempt in
                try await functions.call(
                    "session_detach", .string("detach-\(attempt)"), SessionFunctions.deadline, "g1",
                    .string("s\(attempt)"),
                    0, 0)
            }
            #expect(detached == 9)
            let ended = try await count(scene, after: opened) { try await functions.end("s\($0)") }
            #expect(ended == 15)
        }
    }
}

/// Calls the functions of presence as a gateway's commands do.
private struct SessionFunctions {
    /// A deadline far ahead, as each command of a gateway has one.
    static let deadline: RedisArgument = 9_999_999_999_999

    let connection: RedisClient
    let tag: String

    @discardableResult
    func call(_ function: String, _ arguments: RedisArgument...) async throws -> RedisValue {
        try await connection.execute(.function(function, tag: tag, arguments: arguments))
    }

    func open(_ sid: String) async throws {
        try await call(
            "session_open", Self.deadline, "g1", .string(sid), "secret", 7, "device", 0, 20, 0,
            "203.0.113.7", "")
    }

    func resume(_ sid: String, at gateway: String) async throws {
        try await call(
            "session_resume", .string("resume-\(sid)-\(gateway)"), Self.deadline, .string(gateway), .string(sid),
            "secret", "203.0.113.8")
    }

    func end(_ sid: String) async throws {
        try await call("session_close", .string("close-\(sid)"), Self.deadline, .string(sid), 602)
        try await call("session_ended", .string(sid))
    }
}
