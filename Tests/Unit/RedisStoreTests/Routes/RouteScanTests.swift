import ClusterState
import NIOCore
import SignalingProtocol
import Testing

@testable import RedisStore

@Suite struct RouteScanTests {
    private static let gateway = GatewayID("g1")

    private static func reply(_ cursor: String, _ routes: String...) -> RedisValue {
        .array([
            .bulk(ByteBuffer(string: cursor)), .array(routes.map { .bulk(ByteBuffer(string: $0)) }),
        ])
    }

    private static func command(_ bucket: Int, _ cursor: String) -> RedisCommand {
        RedisCommand("SSCAN", .string(KeySpace.routes(gateway, bucket: bucket)), .string(cursor), "COUNT", 100)
    }

    @Test func eachBucketIsAskedOnce() throws {
        var scan = RouteScan(Self.gateway)
        var asked: [RedisCommand] = []
        for _ in 0..<Buckets.count / RouteScan.page {
            let commands = scan.next()
            #expect(commands.count == RouteScan.page)
            asked += commands
            #expect(scan.routes(in: commands.map { _ in Self.reply("0") }) == [])
        }
        #expect(asked == (0..<Buckets.count).map { Self.command($0, "0") })
        #expect(scan.next().isEmpty)
    }

    @Test func onlyTheBucketsOfTheseSlotsAreAsked() throws {
        // Slots between those of buckets are of channels.
        var scan = RouteScan(Self.gateway, in: .slots([0, 1, 2, 12, 13, 16_380]))
        let commands = scan.next()
        #expect(commands == [0, 3, 4095].map { Self.command($0, "0") })
        #expect(scan.routes(in: commands.map { _ in Self.reply("0", "a") })?.map(\.bucket) == [0, 3, 4095])
        #expect(scan.next().isEmpty)
        var none = RouteScan(Self.gateway, in: .none)
        #expect(none.next().isEmpty)
    }

    @Test func whatIsNotWholeIsContinuedOnTheNextPage() throws {
        var scan = RouteScan(Self.gateway)
        let first = scan.next()
        var replies = first.map { _ in Self.reply("0") }
        replies[1] = Self.reply("0", "a")
        replies[3] = Self.reply("17", "b", "c")
        #expect(
            scan.routes(in: replies) == [
                FoundRoute(bucket: 1, text: "a"), FoundRoute(bucket: 3, text: "b"), FoundRoute(bucket: 3, text: "c"),
            ])
        let second = scan.next()
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
            let commands = scan.next()
            _ = scan.routes(in: commands.map { _ in Self.reply("0") })
        }
        let last = scan.next()
        _ = scan.routes(in: last.dropLast().map { _ in Self.reply("0") } + [Self.reply("5")])
        #expect(scan.next() == [Self.command(Buckets.count - 1, "5")])
        #expect(scan.routes(in: [Self.reply("0", "z")]) == [FoundRoute(bucket: Buckets.count - 1, text: "z")])
        #expect(scan.next().isEmpty)
    }

    @Test func otherRepliesAreRefused() throws {
        for other in [RedisValue.null, .integer(1), .array([]), .array([.integer(0), .array([])])] {
            var scan = RouteScan(Self.gateway)
            let replies = scan.next().map { _ in other }
            #expect(scan.routes(in: replies) == nil)
        }
        var scan = RouteScan(Self.gateway)
        let commands = scan.next()
        #expect(scan.routes(in: commands.dropLast().map { _ in Self.reply("0") }) == nil)
    }
}
