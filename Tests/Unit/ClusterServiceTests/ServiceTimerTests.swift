import ClusterService
import SignalingProtocol
import Testing

/// The form in which timers stand in Redis.
@Suite struct ServiceTimerTests {
    private struct Words: ServiceTimer, Equatable {
        var subject: Subject { .tagged("{words}") }
        var words: [String]
        init(words: [String]) { self.words = words }
    }

    @Test(
        arguments: [
            (["gateway", "g1-0"], "gateway g1-0"),
            (["session", "a:b{c}", "anna k. 50%", "s-1"], "session a:b{c} anna%20k.%2050%25 s-1"),
            (["ring", "c-1", "{a:x%20y:i:c:b:d}"], "ring c-1 {a:x%2520y:i:c:b:d}"),
            (["expiry", "a", "é%20"], "expiry a é%2520"),
        ])
    func `a line of words, in which only the space and the percent sign are escaped`(
        _ words: [String], _ member: String
    ) {
        #expect(Words(words: words).member == member)
        #expect(Words(member: member) == Words(words: words))
    }

    @Test(arguments: ["", " ", "gateway ", " gateway", "session  s", "session a%2", "session a%zz", "session %FF"])
    func `what has an empty word or a broken escape is no timer`(_ member: String) {
        #expect(Words(member: member) == nil)
    }
}
