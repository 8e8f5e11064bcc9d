import BusProtocol
import ClusterState
import FoundationEssentials
import SignalingProtocol
import Testing

@testable import ClusterBus

@Suite struct ClusterRefusalTests {
    @Test(arguments: [[], [3], [2, 3, 4], [4], [2]] as [[Int64]])
    func neighboursMayServe(levels: [Int64]) {
        #expect(ClusterRefusal(own: 3, running: levels) == nil)
    }

    @Test(arguments: [([1], 1), ([2, 3, 5], 5), ([1, 3, 6], 6)] as [([Int64], Int64)])
    func theFarthestIsNamed(levels: [Int64], far: Int64) {
        #expect(ClusterRefusal(own: 3, running: levels) == .level(own: 3, running: far))
    }

    @Test func recordsAreReadAsWritten() throws {
        let record = InstanceRecord(
            kind: "presence", level: 7, version: "1.2", host: "a", since: RedisTime(milliseconds: 1_700_000_000_000))
        #expect(try InstanceRecord(from: Self.reader(record)) == record)
        // Processes of other releases read it by these names.
        #expect(
            Self.reader(record).pairs.map { "\($0.name) \(String(decoding: $0.value, as: UTF8.self))" }
                == ["kind presence", "level 7", "version 1.2", "host a", "since 1700000000000"])
        var gateway = record
        (gateway.files, gateway.servesAPI, gateway.gateway) = (65_536, true, "g1-0a")
        #expect(try InstanceRecord(from: Self.reader(gateway)) == gateway)
        #expect(Self.reader(gateway).pairs.suffix(3).map(\.name) == ["files", "api", "gateway"])
        let layout = RedisLayout(flavour: .cluster, buckets: 4096, partitions: 24, keys: 2)
        #expect(try RedisLayout(from: Self.reader(layout)) == layout)
        #expect(layout.description == "flavour cluster, 4096 buckets, 24 partitions, key version 2")
    }

    private static func reader(_ record: some FieldRecord) -> FieldReader {
        var writer = FieldWriter()
        record.write(to: &writer)
        return FieldReader(pairs: writer.pairs)
    }

    @Test func theReleaseIsOneOfTheChangelog() throws {
        let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
        let changelog = try String(contentsOfFile: "/\(root)/CHANGELOG.md", encoding: .utf8)
        #expect(changelog.contains("\n## \(ClusterLevel.release)\n"))
    }
}
