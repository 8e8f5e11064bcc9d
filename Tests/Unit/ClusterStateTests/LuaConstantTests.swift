import SignalingProtocol
import Testing

@testable import ClusterState

@Suite struct LuaConstantTests {
    private static let part = Array("redis.register_function('one', one)\n".utf8)

    private func source(_ library: RedisFunctionLibrary) -> String { String(decoding: library.source, as: UTF8.self) }

    @Test func valuesAreSpelledAsLuaSpellsThem() {
        #expect(LuaConstant.integer("BOUND", 1000).line == "local BOUND = 1000\n")
        #expect(LuaConstant.text("TEXT", "a b").line == "local TEXT = 'a b'\n")
        // The names are sorted, because the library's digest must be the same in every process.
        #expect(LuaConstant.set("NAMES", ["_b", "_a"]).line == "local NAMES = {['_a'] = true, ['_b'] = true}\n")
    }

    @Test func aConstantIsAPartOfTheVersion() {
        let one = RedisFunctionLibrary(name: "lib", constants: [.integer("BOUND", 1)], parts: [Self.part])
        let two = RedisFunctionLibrary(name: "lib", constants: [.integer("BOUND", 2)], parts: [Self.part])
        #expect(one.suffix != two.suffix)
        #expect(source(one).contains("\nlocal BOUND = 1\n"))
    }

    @Test func aLibraryHasADigestForEachFlavour() {
        let single = RedisFunctionLibrary(name: "lib", parts: [Self.part])
        let cluster = single.of(.cluster)
        #expect(single.of(.single).source == single.source)
        #expect(cluster.suffix != single.suffix)
        #expect(cluster.functions == single.functions)
        #expect(source(single).contains("\nlocal PUBLISH = 'PUBLISH'\n"))
        #expect(source(cluster).contains("\nlocal PUBLISH = 'SPUBLISH'\n"))
        #expect(cluster.of(.single).source == single.source)
    }

    @Test(arguments: [RedisFunctionLibrary.channels, .messages])
    func theTwoWritersOfAChannelLogAgreeOnItsBounds(library: RedisFunctionLibrary) {
        #expect(source(library).contains("\nlocal LOG_EVENTS = 2000\nlocal LOG_MS = 3600000\n"))
    }

    @Test func boundsOfTheDocumentsReachLua() {
        #expect(source(.channels).contains("\nlocal ATTRIBUTES = 1000\n"))
        #expect(source(.channels).contains("\nlocal CHANNEL_TTL = 7200\n"))
        #expect(source(.channels).contains("['_sendmsg_limit'] = true, ['_setattr_limit'] = true"))
        #expect(!source(.channels).contains("['_member_num'] = true"))
        #expect(source(.presence).contains("\nlocal LEASE_MS = 10000\n"))
    }

    /// A name that is missing would end the function with an error of Lua.
    @Test func refusalsAreThoseThatSwiftDeclares() {
        let libraries: [RedisFunctionLibrary] = [
            .presence, .memberships, .channels, .calls, .messages, .leases, .timers, .instances, .api, .streams,
        ]
        let sources = libraries.map(source).joined()
        let used = Set(sources.matches(of: #/REFUSED\.(\w+)/#).map { String($0.output.1) })
        #expect(used == Set([LuaConstant].refusals.map(\.name)))
        #expect(sources.contains("timeout = 'SIG 1001 timeout '"))
        // Nobody spells one by hand.
        #expect(sources.matches(of: #/'SIG \d/#).count == (1 + used.count) * libraries.count)
    }

    @Test func aFullRedisIsAnsweredAsSwiftAnswersIt() {
        let answer = "SIG 1001 memory_full the memory of Redis is nearly used up, try again later"
        #expect(source(.messages).contains("\nlocal MEMORY_FULL = '\(answer)'\n"))
    }
}
