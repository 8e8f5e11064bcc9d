import CMedia
import CMediaNode
import CMediaPeer
import Testing

/// What participants take, and whether they give it back. Each test is a process of its own, in which nobody else
/// takes memory.
@Suite struct NodeMemoryTests {
    /// So many join, talk and go, `together` at a time, of whom one in ten is a page.
    private static func comeAndGo(_ count: Int, together: Int, in channel: Channel) throws {
        var next: UInt64 = 1
        for _ in 0..<(count / together) {
            var callers: [Caller] = []
            for _ in 0..<together {
                // The others come and go without a packet.
                let isTalking = callers.count < together / 2
                let isWeb = callers.count % 10 == 0
                callers.append(
                    isTalking
                        ? try channel.join(next, CallerKind(isWeb: isWeb), channel: next / 5)
                        : try channel.open(next, CallerKind(isWeb: isWeb), channel: next / 5))
                next += 1
            }
            for _ in 0..<2 {
                for caller in callers where caller.hasKeys { caller.say() }
                channel.pass(milliseconds: 20)
            }
            for caller in callers { channel.remove(caller) }
            channel.forget()
        }
    }

    @Test func joinsAndLeavesLeaveNoMemory() async {
        await #expect(processExitsWith: .success) {
            let channel = try Channel()
            // Libraries and tables have what they keep.
            try Self.comeAndGo(500, together: 50, in: channel)
            let before = cm_memory_used()
            try Self.comeAndGo(10_000, together: 50, in: channel)
            let after = cm_memory_used()
            try #require(before > 0)
            // Ten bytes of each would be more.
            #expect(after < before + 100_000)
            #expect(channel.counts.participants == 0 && channel.counts.channels == 0)
            #expect(channel.counts.audio_sent > 10_000)
        }
    }

    @Test func aParticipantTakesLittle() async {
        await #expect(processExitsWith: .success) {
            // 64 KiB with GCM, which is preferred wherever there is a choice; libsrtp has 24 KB more for CM with SHA1.
            for (isWeb, suite, most) in [(false, Suite.gcm, 64), (true, .gcm, 64), (false, .counter, 84)] {
                let channel = try Channel()
                let callers = try (1...30).map {
                    try channel.join($0, CallerKind(isWeb: isWeb, suite: suite), channel: $0 / 8)
                }
                // All are heard by seven others, and the connections of DTLS are no longer needed.
                for _ in 0..<12 {
                    for caller in callers { caller.check() }
                    for caller in callers { caller.say() }
                    channel.pass(milliseconds: 1000)
                }
                let before = cm_memory_used()
                for caller in callers { cm_node_remove(channel.node, caller.id) }
                let size = (Int(before) - Int(cm_memory_used())) / callers.count
                #expect(
                    (10_000...most * 1024).contains(size),
                    "\(size) bytes of a \(isWeb ? "page" : "engine"), \(suite)")
            }
        }
    }
}
