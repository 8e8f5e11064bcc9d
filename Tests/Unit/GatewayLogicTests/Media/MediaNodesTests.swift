import GatewayLogic
import Pacing
import SignalingProtocol
import Testing

@Suite struct MediaNodesTests {
    private typealias Living = (id: MediaNodeID, load: Int, isDraining: Bool)

    private func time(_ seconds: Double) -> LocalTime {
        LocalTime(nanoseconds: Int64(seconds * 1e9) + 1_000_000_000_000)
    }

    private func living(_ names: [String]) -> [Living] { names.map { (MediaNodeID($0), 0, false) } }

    private func channel(_ name: String = "room") throws -> MediaChannelKey {
        MediaChannelKey(app: try AppID("app"), name: try MediaChannelName(name))
    }

    @Test func theListIsReadAgainAfterASecond() {
        var nodes = MediaNodes()
        #expect(nodes.isStale(now: time(0)))
        nodes.take([], now: time(0))
        #expect(!nodes.isStale(now: time(1)) && nodes.isStale(now: time(1.1)))
    }

    @Test func allGatewaysChooseTheSameNode() throws {
        let names = ["a", "b", "c", "d"]
        var one = MediaNodes(), other = MediaNodes()
        one.take(living(names), now: time(0))
        other.take(living(names.reversed()), now: time(5))
        var chosen: Set<MediaNodeID> = []
        for number in 0..<100 {
            let channel = try channel("room \(number)")
            let node = try #require(one.node(for: channel, now: time(0)))
            #expect(other.node(for: channel, now: time(5)) == node)
            chosen.insert(node)
        }
        #expect(chosen.count == 4)
    }

    @Test func whoDrainsIsFullOrUnreachableIsPassedOver() throws {
        var nodes = MediaNodes()
        nodes.take(living(["a", "b"]), now: time(0))
        let first = try #require(nodes.node(for: channel(), now: time(0)))
        let second = first.rawValue == "a" ? MediaNodeID("b") : MediaNodeID("a")
        #expect(nodes.node(for: try channel(), avoiding: [first], now: time(0)) == second)
        // Better one that could not be reached than none.
        #expect(nodes.node(for: try channel(), avoiding: [first, second], now: time(0)) == first)
        nodes.take([(first, 0, true), (second, 0, false)], now: time(0))
        #expect(nodes.node(for: try channel(), now: time(0)) == second)
        nodes.take([(first, 0, true), (second, MediaNodes.fullLoad, false)], now: time(0))
        #expect(nodes.node(for: try channel(), now: time(0)) == nil)
    }

    @Test func nobodyIsForgottenWhileTheListCannotBeRead() throws {
        var nodes = MediaNodes()
        nodes.take(living(["a", "b"]), now: time(0))
        let first = try #require(nodes.node(for: channel(), now: time(0)))
        for second in stride(from: 2.0, through: 60, by: 2) {
            nodes.isUnreadable(now: time(second))
            #expect(nodes.node(for: try channel(), now: time(second)) == first)
        }
        // Redis came back empty, and only one has listed itself yet.
        nodes.take(living(["a", "b"].filter { $0 != first.rawValue }), now: time(61))
        #expect(nodes.node(for: try channel(), now: time(61)) == first)
        nodes.take(living(["a", "b"]), now: time(62))
        #expect(nodes.node(for: try channel(), now: time(62)) == first)
    }

    @Test func whoIsLeavingIsPassedOverAtOnce() throws {
        var nodes = MediaNodes()
        nodes.take(living(["a", "b"]), now: time(0))
        let first = try #require(nodes.node(for: channel(), now: time(0)))
        nodes.isLeaving(first)
        let second = try #require(nodes.node(for: channel(), now: time(0)))
        #expect(second != first)
        nodes.isLeaving(second)
        #expect(nodes.node(for: try channel(), now: time(0)) == nil)
        nodes.isLeaving(MediaNodeID("unknown"))
        nodes.take(living(["a", "b"]), now: time(1))
        #expect(nodes.node(for: try channel(), now: time(1)) == first)
    }

    @Test func anEmptyListCountsAfterThreeSeconds() throws {
        var nodes = MediaNodes()
        nodes.take(living(["a"]), now: time(0))
        nodes.take([], now: time(2))
        #expect(nodes.node(for: try channel(), now: time(3)) == MediaNodeID("a"))
        #expect(nodes.node(for: try channel(), now: time(3.1)) == nil)
        nodes.take(living(["a"]), now: time(4))
        #expect(nodes.node(for: try channel(), now: time(4)) == MediaNodeID("a"))
    }
}
