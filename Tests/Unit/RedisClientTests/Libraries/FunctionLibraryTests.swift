import ClusterState
import NIOCore
import Testing

@testable import RedisClient

@Suite struct FunctionLibraryTests {
    private static let part = Array(
        """
        local function register_vital(name, callback)
            redis.register_function{function_name = name, callback = callback, flags = {'allow-oom'}}
        end
        redis.register_function('one_a', one)
        register_vital('two', two)
        redis.register_function {
          function_name = 'three',
          callback = three }
        """.utf8)

    @Test func namesCarryADigestOfTheText() {
        let library = RedisFunctionLibrary(name: "lib", parts: [Self.part])
        #expect(library.functions == ["one_a", "two", "three"])
        #expect(library.suffix.utf8.count == 9)
        #expect(library.name == "lib" + library.suffix)
        let source = String(decoding: library.source, as: UTF8.self)
        #expect(source.hasPrefix("#!lua name=\(library.name)\nlocal VERSION = '\(library.suffix)'\n"))
        #expect(library.suffix == RedisFunctionLibrary(name: "lib", parts: [Self.part]).suffix)
        #expect(library.suffix != RedisFunctionLibrary(name: "lib", parts: [Self.part + [10]]).suffix)
        #expect(library.suffix != RedisFunctionLibrary(name: "other", parts: [Self.part]).suffix)
    }

    @Test func callsAreWrittenWithIt() {
        let library = RedisFunctionLibrary(name: "lib", parts: [Self.part])
        let names = FunctionNames([library])
        var expected = ByteBuffer()
        RedisCommand("FCALL", .string("two" + library.suffix), 1, "{t}", "a").encode(into: &expected)
        var written = ByteBuffer()
        RedisCommand.function("two", tag: "{t}", "a").encode(into: &written, functions: names)
        #expect(written == expected)
        // The name of a function that is in no known library is written unchanged.
        expected.clear()
        written.clear()
        RedisCommand("FCALL", "foreign", 1, "{t}").encode(into: &expected)
        RedisCommand.function("foreign", tag: "{t}").encode(into: &written, functions: names)
        #expect(written == expected)
    }
}
