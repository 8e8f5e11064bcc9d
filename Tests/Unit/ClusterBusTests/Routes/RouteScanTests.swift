import ClusterState
import NIOCore
import SignalingProtocol
import Testing

@testable import ClusterBus
@testable import RedisClient

@Suite struct RouteScanTests {
    private static let gateway = GatewayID("g1")

    private static func reply(_ cursor: String, _ routes: String...) -> Result<RedisValue, RedisError> {
        .success(
            .array([.bulk(ByteBuffer(string: cursor)), .array(routes.map { .bulk(ByteBuffer(string: $0)) })]))
    }

    private static func command(_ bucket: Int, _ cursor: String) -> RedisCommand {
        RedisCommand("SSCAN", .string(KeySpace.routes(gateway, bucket: bucket)), .string(cursor), "COUNT", 100)
    }

    /// Asks for the next page.
    private static func next(
        _ scan: inout RouteScan, isReachable: (UInt16) -> Bool = { _ in true }
    ) -> [RedisCommand] {
        scan.turn(isReachable: isReachable)
        return scan.commands
    }

    @Test func eachBucketIsAskedOnce() throws {
        var scan = RouteScan(Self.gateway)
        var asked: [RedisCommand] = []
        for _ in 0..<Buckets.count / RouteScan.page {
            let commands = Self.next(&scan)
            #expect(commands.count == RouteScan.page)
            asked += commands
            #expect(scan.routes(in: commands.map { _ in Self.reply("0") }) == [])
        }
        #expect(asked == (0..<Buckets.count).map { Self.command($0, "0") })
        #expect(Self.next(&scan).isEmpty)
        #expect(scan.missed == .none)
    }

    @Test func onlyTheBucketsOfTheseSlotsAreAsked() throws {
        // Slots between those of buckets are of channels.
        var scan = RouteScan(Self.gateway, in: .slots([0, 1, 2, 12, 13, 16_380]))
        let commands = Self.next(&scan)
        #expect(commands == [0, 3, 4095].map { Self.command($0, "0") })
        #expect(scan.routes(in: commands.map { _ in Self.reply("0", "a") }).map(\.bucket) == [0, 3, 4095])
        #expect(Self.next(&scan).isEmpty)
        var none = RouteScan(Self.gateway, in: .none)
        #expect(Self.next(&none).isEmpty)
    }

    @Test func whatIsNotWholeIsContinuedOnTheNextPage() throws {
        var scan = RouteScan(Self.gateway)
        let first = Self.next(&scan)
        var replies = first.map { _ in Self.reply("0") }
        replies[1] = Self.reply("0", "a")
        replies[3] = Self.reply("17", "b", "c")
        #expect(
            scan.routes(in: replies) == [
                FoundRoute(bucket: 1, text: "a"), FoundRoute(bucket: 3, text: "b"), FoundRoute(bucket: 3, text: "c"),
            ])
        let second = Self.next(&scan)
        #expect(second.count == RouteScan.page)
        #expect(second[0] == Self.command(3, "17") && second[1] == Self.command(RouteScan.page, "0"))
        #expect(
            scan.routes(in: [Self.reply("0", "d")] + second.dropFirst().map { _ in Self.reply("0") }) == [
                FoundRoute(bucket: 3, text: "d")
            ])
    }

    @Test func aBucketMayBeUnfinishedAtTheEnd() throws {
        var scan = RouteScan(Self.gateway)
        for _ in 0..<Buckets.count / RouteScan.page - 1 {
            let commands = Self.next(&scan)
            _ = scan.routes(in: commands.map { _ in Self.reply("0") })
        }
        let last = Self.next(&scan)
        _ = scan.routes(in: last.dropLast().map { _ in Self.reply("0") } + [Self.reply("5")])
        #expect(Self.next(&scan) == [Self.command(Buckets.count - 1, "5")])
        #expect(scan.routes(in: [Self.reply("0", "z")]) == [FoundRoute(bucket: Buckets.count - 1, text: "z")])
        #expect(Self.next(&scan).isEmpty)
    }

    @Test func bucketsWithoutAnAnswerAreAskedAgainAfterTheOthers() throws {
        let unreadable: [RedisValue] = [.null, .integer(1), .array([]), .array([.integer(0), .array([])])]
        for other in [.failure(.closed)] + unreadable.map({ Result<RedisValue, RedisError>.success($0) }) {
            var scan = RouteScan(Self.gateway)
            var replies = Self.next(&scan).map { _ in Self.reply("0") }
            (replies[0], replies[2]) = (other, Self.reply("7", "a"))
            #expect(scan.routes(in: replies) == [FoundRoute(bucket: 2, text: "a")])
            let second = Self.next(&scan)
            #expect(second.prefix(2) == [Self.command(2, "7"), Self.command(RouteScan.page, "0")])
            // Without any answer, and with too few of them.
            _ = scan.routes(in: second.dropLast().map { _ in Self.reply("0") })
            for _ in 2..<Buckets.count / RouteScan.page {
                _ = scan.routes(in: Self.next(&scan).map { _ in Self.reply("0") })
            }
            let last = Self.next(&scan)
            #expect(last == [Self.command(Buckets.count - 1, "0")])
            _ = scan.routes(in: [Self.reply("0")])
            #expect(Self.next(&scan).isEmpty)
            let missed = [0, 2 * RouteScan.page - 2]
            #expect(scan.missed == .slots(Set(missed.map { Buckets.slot(ofBucket: $0) })))
            scan.askAgain()
            #expect(scan.missed == .none)
            #expect(Self.next(&scan) == missed.map { Self.command($0, "0") })
        }
    }

    @Test func whatIsPutBackIsAskedForAgain() throws {
        var scan = RouteScan(Self.gateway, in: .slots([0, 4, 8]))
        var replies = Self.next(&scan, isReachable: { $0 != 4 }).map { _ in Self.reply("0", "a", "b") }
        #expect(replies.count == 2)
        let found = scan.routes(in: replies)
        #expect(found.map(\.bucket) == [0, 0, 2, 2])
        // Bucket 1 has been left out already; each is asked for once.
        scan.putBack(found + [FoundRoute(bucket: 1, text: "c")])
        #expect(Self.next(&scan).isEmpty)
        #expect(scan.missed == .slots([0, 4, 8]))
        scan.askAgain()
        #expect(Self.next(&scan) == [1, 0, 2].map { Self.command($0, "0") })
        replies = [0, 1, 2].map { _ in Self.reply("0") }
        #expect(scan.routes(in: replies) == [])
        #expect(Self.next(&scan).isEmpty && scan.missed == .none)
    }

    @Test func theBucketsOfAMasterThatIsAwayAreLeftOut() throws {
        var scan = RouteScan(Self.gateway)
        var asked: [RedisCommand] = []
        while true {
            let commands = Self.next(&scan) { $0 >= 5461 }
            if commands.isEmpty { break }
            asked += commands
            _ = scan.routes(in: commands.map { _ in Self.reply("0") })
        }
        #expect(asked == (1366..<Buckets.count).map { Self.command($0, "0") })
        #expect(scan.missed == .slots(Set((0..<1366).map { Buckets.slot(ofBucket: $0) })))
        scan.askAgain()
        #expect(Self.next(&scan) == (0..<RouteScan.page).map { Self.command($0, "0") })
    }
}
