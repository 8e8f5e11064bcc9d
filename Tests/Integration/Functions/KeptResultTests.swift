import BusProtocol
import ClusterState
import RedisClient
import TestKit
import Testing

/// The results that functions keep for commands that are delivered again (`once` of prelude.lua).
@Suite(.timeLimit(.minutes(2))) struct KeptResultTests {
    /// A library whose function returns `result`, a Lua expression, once per command, and
    /// counts how often it was evaluated.
    private static func library(_ result: String) -> RedisFunctionLibrary {
        let part = """
            redis.register_function('test_kept', function(keys, args)
                return once(keys[1], args[1], args[2], function()
                    redis.call('INCR', keys[1] .. ':acts')
                    return \(result)
                end)
            end)
            """
        return RedisFunctionLibrary(name: "test_kept", parts: [Array(part.utf8)])
    }

    private static let long = String(repeating: "x", count: 200)

    @Test(arguments: [
        ("{}", ""),
        ("{'joined', '17', ''}", "0:6:joined0:2:170:0:"),
        ("{3, 0, -12, 9007199254740991}", "1:i1:31:i1:01:i3:-121:i16:9007199254740991"),
        ("{'5', 5, 'a 1:i1:5 b', 'é\\n'}", "0:1:51:i1:50:10:a 1:i1:5 b0:3:é\n"),
        ("{string.rep('x', 200), 1}", "0:200:\(long)1:i1:1"),
        ("{string.char(0, 255), 's'}", nil),
    ])
    func repeatedWithItsTypes(_ result: String, kept: String?) async throws {
        try await RedisScene.run(appendOnly: false, libraries: [Self.library(result)]) { scene in
            let call = RedisCommand.function("test_kept", tag: "{t}", "c1", "0")
            let first = try await scene.connection.execute(call)
            #expect(try await scene.connection.execute(call) == first)
            #expect(try await scene.connection.execute(RedisCommand("GET", "{t}:acts")).int == 1)
            let stored = try await scene.connection.execute(RedisCommand("GET", "{t}:done:c1")).bytes ?? [0]
            if let kept { #expect(String(decoding: stored, as: UTF8.self) == kept) }
            // Swift reads the same form.
            let fields = try FieldReader(encoded: stored).pairs
            let elements = try #require(first.array)
            try #require(fields.count == elements.count)
            for (field, element) in zip(fields, elements) {
                if case .integer(let number) = element {
                    #expect(field.name == "i" && String(decoding: field.value, as: UTF8.self) == "\(number)")
                } else {
                    #expect(field.name == "" && field.value == element.bytes)
                }
            }
        }
    }

    @Test func errorsAreNotKept() async throws {
        try await RedisScene.run(appendOnly: false, libraries: [Self.library("{err = 'SIG 1001 x y'}")]) { scene in
            let call = RedisCommand.function("test_kept", tag: "{t}", "c1", "0")
            for _ in 0..<2 {
                await #expect(throws: RedisError.self) { try await scene.connection.execute(call) }
            }
            let acts = try await scene.connection.execute(RedisCommand("GET", "{t}:acts"))
            let kept = try await scene.connection.execute(RedisCommand("EXISTS", "{t}:done:c1"))
            #expect(acts.int == 2 && kept.int == 0)
        }
    }
}
