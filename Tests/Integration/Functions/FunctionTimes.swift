import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Measures, by Redis' slow log, for how long functions block Redis, and records which functions were measured.
///
/// To leave out delays of the test machine, each act is repeated and the fastest run counts.
struct FunctionTimes: Sendable {
    /// The most microseconds for which one function, or one plain command, may block Redis.
    static let bound: Int64 = 5000
    private static let attempts = 5

    let connection: RedisClient
    private let driven = Recording<String>()

    /// Sets Redis' slow log to record every command.
    init(_ connection: RedisClient) async throws {
        self.connection = connection
        try await command("CONFIG", "SET", "slowlog-max-len", 100_000)
        try await command("CONFIG", "SET", "slowlog-log-slower-than", 0)
    }

    @discardableResult
    func command(_ name: String, _ arguments: RedisArgument...) async throws -> RedisValue {
        try await connection.execute(RedisCommand(name, arguments: arguments))
    }

    @discardableResult
    func call(_ function: String, _ tag: String, _ arguments: RedisArgument...) async throws -> RedisValue {
        try await connection.execute(.function(function, tag: tag, arguments: arguments))
    }

    /// Runs commands in one pipeline; all must succeed.
    func all(_ commands: [RedisCommand]) async throws {
        for result in await connection.execute(commands) { _ = try result.get() }
    }

    /// Expects that every function and command that `act` calls is fast enough.
    /// - Parameter prepare: runs before each repetition and is not measured.
    func expectShort(
        _ what: String, after prepare: () async throws -> Void = {}, sourceLocation: SourceLocation = #_sourceLocation,
        _ act: () async throws -> Void
    ) async throws {
        var best: (command: String, time: Int64) = ("", .max)
        for _ in 0..<Self.attempts where best.time >= Self.bound {
            try await prepare()
            try await command("SLOWLOG", "RESET")
            try await act()
            let slowest = try await slowest()
            if slowest.time < best.time { best = slowest }
        }
        #expect(best.time < Self.bound, "\(what): \(best.command) \(best.time) us", sourceLocation: sourceLocation)
    }

    /// Calls a function with arguments at its bounds and expects that it is fast enough.
    func expectShort(
        _ function: String, _ tag: String, _ arguments: RedisArgument...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await expectShort(function, sourceLocation: sourceLocation) {
            _ = try await connection.execute(.function(function, tag: tag, arguments: arguments))
        }
    }

    /// Expects that every function of a library was measured.
    func expectComplete(_ library: RedisFunctionLibrary) async throws {
        let functions = try await Self.functions(of: library.name, connection)
        #expect(!functions.isEmpty)
        #expect(functions.subtracting(driven.all) == [], "functions that no test drives at their bounds")
    }

    /// The functions loaded in Redis, without the libraries' version suffixes.
    static func functions(of library: String, _ connection: RedisClient) async throws -> Set<String> {
        let list = try await connection.execute(RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", .string(library)))
        var names: Set<String> = []
        for library in list.array ?? [] {
            // FUNCTION LIST replies: library_name, its value, engine, its value, functions, their list.
            for function in library.array?.last?.array ?? [] {
                if let name = function.array?[1].string { names.insert(withoutVersion(name)) }
            }
        }
        return names
    }

    private static func withoutVersion(_ name: String) -> String { String(name.dropLast(9)) }

    private func slowest() async throws -> (command: String, time: Int64) {
        var slowest: (command: String, time: Int64) = ("", 0)
        for entry in try await command("SLOWLOG", "GET", -1).array ?? [] {
            guard let parts = entry.array, let time = parts[2].int, let words = parts[3].array,
                var name = words.first?.string, name != "SLOWLOG"
            else { continue }
            if name == "FCALL", words.count > 1, let function = words[1].string {
                name = Self.withoutVersion(function)
                driven.add(name)
            }
            if time > slowest.time { slowest = (name, time) }
        }
        return slowest
    }
}
