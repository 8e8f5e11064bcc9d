import ClusterState
import SignalingProtocol
import Testing

@testable import ControlInspection
@testable import RedisClient

/// What an operator is told of servers that were asked.
@Suite struct RedisInspectionTests {
    private static func address(_ number: Int) -> NodeAddress { NodeAddress(host: "10.0.0.\(number)", port: 7000) }

    /// INFO of a server.
    private static func info(master: Int? = nil, _ more: String = "") -> String {
        let role =
            master.map {
                "role:slave\nmaster_host:10.0.0.\($0)\nmaster_port:7000\nmaster_link_status:up\nslave_repl_offset:1000\n"
            }
            ?? "role:master\nconnected_slaves:1\nmaster_repl_offset:1000\n"
        return role + "used_memory:1048576\nmaxmemory:0\nmaxmemory_policy:noeviction\ndb0:keys=12,expires=3\n" + more
    }

    private static func server(_ number: Int, master: Int? = nil, _ more: String = "") throws -> ServerState {
        var server = try ServerState(
            address(number), info: InfoFields(info: info(master: master, more)), database: 0)
        server.clockLead = 0...4
        server.libraries = ["heliograph_a", "heliograph_b"]
        server.settings = ["cluster-require-full-coverage": "no", "cluster-allow-pubsubshard-when-down": "yes"]
        return server
    }

    /// Three masters with a third of the slots and a replica each, without anything wrong.
    private static func cluster(_ change: (Int, inout [String]) -> Void = { _, _ in }) throws -> RedisInspection {
        var inspection = RedisInspection(flavour: .cluster)
        for number in 1...6 {
            let master = number > 3 ? number - 3 : nil
            var server = try server(number, master: master)
            var lines = (1...6).map { other in
                let flags = (other == number ? "myself," : "") + (other > 3 ? "slave" : "master")
                let slots = other > 3 ? "" : " " + ["0-5461", "5462-10922", "10923-16383"][other - 1]
                let master = other > 3 ? "id\(other - 3)" : "-"
                return "id\(other) 10.0.0.\(other):7000@17000 \(flags) \(master) 0 0 1 connected\(slots)"
            }
            change(number, &lines)
            server.view = try ClusterView(nodes: lines.joined(separator: "\n"), asked: server.address)
            inspection.servers.append(server)
        }
        inspection.partitions = (0..<3).map { number in
            let range = PartitionState.range(of: number, count: 3)
            return PartitionState(number: number, range: range, keySlot: range.lowerBound, entries: .init())
        }
        return inspection
    }

    private static func texts(_ findings: [Finding], _ weight: Finding.Weight) -> [String] {
        findings.filter { $0.weight == weight }.map(\.text)
    }

    @Test func aServersState() throws {
        let server = try Self.server(2, master: 1, "master_last_io_seconds_ago:3\nmaxmemory:2097152")
        #expect(server.master == Self.address(1) && !server.isMaster && server.isLinked && server.silence == 3)
        #expect(server.keys == 12 && server.memory == 1 << 20 && server.memoryLimit == 2 << 20 && server.offset == 1000)
        #expect(throws: RedisError.self) { try ServerState(Self.address(1), info: InfoFields(info: ""), database: 0) }
    }

    @Test func rates() throws {
        var server = try Self.server(1)
        let first = InfoFields(
            info: "total_commands_processed:100\nused_cpu_sys_main_thread:1.5\nused_cpu_user_main_thread:2.0")
        let last = InfoFields(
            info: "total_commands_processed:300\nused_cpu_sys_main_thread:1.6\nused_cpu_user_main_thread:2.4")
        server.watched(from: first, to: last, for: .seconds(2))
        #expect(server.commandsPerSecond == 100)
        #expect(abs(server.cpu - 0.25) < 0.001)
    }

    @Test func nothingIsWrong() throws {
        let inspection = try Self.cluster()
        #expect(inspection.findings.isEmpty)
        #expect(inspection.obstacles(channels: []).isEmpty)
        #expect(inspection.replicas(of: inspection.servers[1]).map(\.address) == [Self.address(5)])
        #expect(inspection.slots(of: inspection.servers[0]) == [0...5461])
        #expect(inspection.partitions(of: inspection.servers[1]).map(\.number) == [1])
    }

    @Test func serversOfAnyKind() throws {
        var inspection = RedisInspection(flavour: .single)
        inspection.servers = [try Self.server(1, "maxmemory:1100000\nmaxmemory_policy:allkeys-lru")]
        inspection.silent = [.init(address: Self.address(9), why: "refused")]
        let wrong = Self.texts(inspection.findings, .wrong)
        #expect(wrong.count == 3)
        #expect(wrong[0] == "10.0.0.9:7000 does not answer: refused; start it, or correct the address")
        #expect(wrong[1].contains("uses 95 % of its maxmemory") && wrong[2].contains("allkeys-lru"))
        #expect(inspection.obstacles(channels: []).isEmpty, "there are no slots to move")
    }

    @Test func replicasThatAreBehind() throws {
        var inspection = try Self.cluster()
        inspection.servers[0].offset = 20 << 20
        inspection.servers[4].isLinked = false
        let findings = inspection.findings
        #expect(
            Self.texts(findings, .wrong) == [
                "the replica 10.0.0.5:7000 is not connected to its master 10.0.0.2:7000: look at its log, its network "
                    + "and masterauth"
            ])
        #expect(Self.texts(findings, .advice).first?.contains("10.0.0.4:7000 is 19 MiB behind") == true)
    }

    /// The clock was read at some moment between question and answer: only what is sure is said.
    @Test func clocksThatDiffer() throws {
        var inspection = try Self.cluster()
        inspection.servers[3].clockLead = 400...1200
        #expect(inspection.findings.isEmpty)
        inspection.servers[3].clockLead = 505...1200
        #expect(
            Self.texts(inspection.findings, .wrong).first?.contains("10.0.0.4:7000 is at least 501 ms ahead") == true)
    }

    @Test func librariesThatAreMissing() throws {
        var inspection = try Self.cluster()
        inspection.servers[2].libraries = ["heliograph_b"]
        #expect(
            inspection.findings == [
                .advice("10.0.0.3:7000 lacks heliograph_a, and will load it at the first call")
            ])
    }

    @Test func slotsThatNobodyServes() throws {
        let inspection = try Self.cluster { _, lines in
            lines[1] = lines[1].replacing("5462-10922", with: "5462-10000").replacing("master", with: "master,fail")
        }
        let wrong = Self.texts(inspection.findings, .wrong)
        #expect(wrong.count == 2)
        #expect(wrong.first?.contains("no master serves the slots 10001-10922") == true)
        #expect(wrong.last?.contains("10.0.0.2:7000 is marked as failing") == true)
        #expect(inspection.obstacles(channels: []).count >= 2)
    }

    @Test func aServerThatSeesOtherOwners() throws {
        let inspection = try Self.cluster { number, lines in
            if number == 6 { lines[0] = lines[0].replacing("0-5461", with: "0-5460") }
        }
        #expect(Self.texts(inspection.findings, .wrong).first?.hasPrefix("10.0.0.6:7000 sees other owners") == true)
        #expect(inspection.uncovered.isEmpty, "most servers see an owner")
    }

    @Test func obstaclesToAReshard() throws {
        var inspection = try Self.cluster { number, lines in
            if number == 1 { lines[0] += " [77->-id2]" }
        }
        inspection.servers[2].connectedReplicas = 0
        inspection.servers[1].settings?["cluster-require-full-coverage"] = "yes"
        inspection.partitions[1].entries?.big = ["mirror:presence:{a}": 101_001]
        let lines = inspection.obstacles(channels: [BigChannel(app: "app", channel: "all", members: 50_001, slot: 9)])
        let expected = [
            "slot 77 is being moved from 10.0.0.1:7000 to 10.0.0.2:7000, and the move has not ended",
            "10.0.0.3:7000 has no replica", "mirror:presence:{a} has 101001 entries",
            "the channel all of app has 50001 members: do not move slot 9",
            "10.0.0.2:7000 has cluster-require-full-coverage yes: set it to no",
        ]
        #expect(lines.count == expected.count)
        for (line, part) in zip(lines, expected) { #expect(line.contains(part)) }
        #expect(Self.texts(inspection.findings, .wrong).isEmpty, "the cluster works")
    }

    /// Partition 1 begins at slot 5462 and ends at 10,922.
    @Test func partitionsWhoseKeysAreElsewhere() throws {
        let inspection = try Self.cluster { _, lines in
            lines[0] = lines[0].replacing("0-5461", with: "0-5462")
            lines[1] = lines[1].replacing("5462-", with: "5463-")
        }
        let lines = inspection.obstacles(channels: [])
        #expect(lines.count == 1)
        #expect(
            lines.first?.hasPrefix(
                "partition 1 has its keys on 10.0.0.1:7000, but 10.0.0.2:7000 has 5460 of its 5461 slots 5462-10922")
                == true)
    }

    @Test func sentinelsThatDisagree() throws {
        var inspection = RedisInspection(flavour: .sentinel)
        inspection.servers = [try Self.server(1)]
        inspection.sentinels = (7...8).map { number in
            SentinelState(
                address: Self.address(number), master: Self.address(number - 6), epoch: Int64(number), quorum: 2,
                replicas: 1,
                flags: ["master"])
        }
        let findings = inspection.findings
        #expect(
            Self.texts(findings, .wrong).first?.contains("10.0.0.7:7000 says 10.0.0.1:7000, epoch 7; 10.0.0.8:7000")
                == true)
        #expect(Self.texts(findings, .advice).first?.contains("fewer than three Sentinels") == true)
    }

    @Test func aBusWithEntriesThatWereSetAside() throws {
        var inspection = try Self.cluster()
        inspection.partitions[2].entries?.setAside = 4
        inspection.partitions[1].entries = nil
        #expect(
            inspection.findings.map(\.text) == [
                "the partitions 1 of the bus cannot be read: their masters do not answer",
                "4 entries of partition 2 of the bus were set aside because no instance could handle them: see the "
                    + "keys dead:*",
            ])
    }

    // MARK: - What the doctor says beyond

    private static let well = "redis_version:7.0.15\naof_enabled:1\nmaxmemory:4194304\ntotal_system_memory:8388608\n"

    private static func single(_ more: String) throws -> RedisInspection {
        var inspection = RedisInspection(flavour: .single)
        inspection.servers = [try server(1, well + more)]
        return inspection
    }

    @Test func aServerThatIsWellNeedsNoCare() throws {
        let inspection = try Self.single("aof_last_write_status:ok\naof_last_bgrewrite_status:ok")
        #expect(inspection.care == [])
        #expect(
            inspection.facts == [
                "Redis 7.0.15 at 10.0.0.1:7000, master, append-only file, 1 of 4 MiB, 12 keys"
            ])
    }

    @Test(arguments: [
        ("redis_version:6.2.14", Finding.Weight.wrong, "install 7.0 or later"),
        ("aof_enabled:0", .wrong, "CONFIG SET appendonly yes"),
        ("aof_last_write_status:err", .wrong, "could not write its files (aof_last_write_status)"),
        ("maxmemory:1300000", .advice, "80 % of its maxmemory, 0 MiB are left"),
        ("maxmemory:0", .advice, "has no maxmemory"),
        ("maxmemory:0\ntotal_system_memory:1200000", .wrong, "the system will kill it"),
    ])
    func careIsAdvised(_ info: String, _ weight: Finding.Weight, _ words: String) throws {
        let care = try Self.single(info).care
        #expect(care.count == 1 && care[0].weight == weight && care[0].text.contains(words), "\(care)")
    }

    @Test func workThatWaitsIsNamed() throws {
        var inspection = try Self.single("")
        for (number, age) in [(0, Int64(10_000)), (1, 9000)] {
            var entries = PartitionState.Entries()
            for work in [PartitionState.Work.commands(.presence), .mirror(.changes(.presence))] {
                entries.ages[work] = age
            }
            inspection.partitions.append(
                PartitionState(
                    number: number, range: PartitionState.range(of: number, count: 2), keySlot: 0, entries: entries))
        }
        #expect(inspection.care == [])
        inspection.partitions[0].entries?.ages[.mirror(.changes(.presence))] = 10_001
        #expect(inspection.care.map(\.text).first?.hasPrefix("presence's copies in PostgreSQL are 10 s behind") == true)
        inspection.partitions[1].entries?.ages[.commands(.invitation)] = 61_000
        #expect(inspection.care.count == 2)
        #expect(inspection.care[0].text.hasPrefix("commands to invitation have waited for 61 s: start a"))
        inspection.partitions[1].entries?.ages[.mirror(.messages)] = 12_000
        #expect(inspection.care.count == 3)
        #expect(
            inspection.care[1].text.hasPrefix(
                "messages have waited for 12 s to become events of webhooks: see whether invitation runs"))
    }
}
