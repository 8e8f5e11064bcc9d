internal import ControlInspection
internal import RedisClient
internal import SignalingWire

/// How Redis is doing, as `cluster status` prints it.
struct InspectionOutput: Printable {
    let inspection: RedisInspection

    private var findings: [Finding] { inspection.findings }

    var members: [JSONMember] {
        findings.members + [
            JSONMember("flavour", inspection.flavour.rawValue),
            JSONMember("sentinels", .array(inspection.sentinels.map(\.json))),
            JSONMember("servers", .array(inspection.servers.map { json(of: $0) })),
            JSONMember("silent", .array(inspection.silent.map { .string($0.address.description) })),
            JSONMember("uncoveredSlots", Self.text(of: inspection.uncovered)),
        ]
    }

    var lines: [String] {
        let servers = inspection.masters.flatMap { master in
            [line(of: master)] + inspection.replicas(of: master).map { "  " + line(of: $0, behind: master) }
        }
        let orphans = inspection.orphans.map {
            "\($0.address)  replica of a master that does not answer  \(Self.load(of: $0))"
        }
        return [summary] + servers + orphans + inspection.sentinels.map(\.line) + findings.map(\.line)
    }

    private var summary: String {
        let (masters, all) = (inspection.masters.count, inspection.servers.count)
        return switch inspection.flavour {
        case .single: "Redis is one server"
        case .sentinel:
            "Redis is one master, watched by Sentinels; Sentinels \(inspection.sentinels.count), replicas "
                + "\(all - masters)"
        case .cluster: "Redis is a cluster; masters \(masters), replicas \(all - masters)"
        }
    }

    // MARK: - Text

    private func line(of master: ServerState) -> String {
        let slots = inspection.slots(of: master)
        let entries = inspection.partitions(of: master).compactMap(\.entries)
        let bus =
            "\(entries.reduce(0) { $0 + $1.waiting }) commands waiting, \(entries.reduce(0) { $0 + $1.mirrored }) "
            + "mirror entries, \(entries.reduce(0) { $0 + $1.timers }) timers"
        let place: String? =
            inspection.flavour == .cluster
            ? "slots \(Self.text(of: slots)) (\(slots.reduce(0) { $0 + $1.count })), partitions "
                + "\(partitionNumbers(of: master))"
            : nil
        let parts = [
            "\(master.address)  master", place, Self.load(of: master), bus,
            master.libraries.map { "\($0.count) libraries" },
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }

    private func line(of replica: ServerState, behind master: ServerState) -> String {
        let state =
            replica.isLinked
            ? "\(inspection.lag(of: replica, behind: master)) bytes behind, heard of its master "
                + "\(replica.silence ?? 0) s ago"
            : "not connected to its master"
        return "\(replica.address)  replica  \(state)  \(Self.load(of: replica))"
    }

    private static func load(of server: ServerState) -> String {
        let limit = server.memoryLimit.map { " of \(mebibytes($0))" } ?? ""
        return
            "\(mebibytes(server.memory))\(limit) MiB  \(server.keys) keys  \(Int(server.commandsPerSecond.rounded())) "
            + "commands/s  CPU \(percent(server.cpu)) %"
    }

    private static func mebibytes(_ bytes: Int64) -> String { oneDecimal(Double(bytes) / Double(1 << 20)) }

    private static func percent(_ share: Double) -> String { oneDecimal(share * 100) }

    private static func oneDecimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The numbers of the partitions whose keys a master has, such as `0-7`.
    private func partitionNumbers(of master: ServerState) -> String {
        var ranges: [ClosedRange<UInt16>] = []
        for number in inspection.partitions(of: master).map({ UInt16($0.number) }) {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.isEmpty ? "none" : Self.text(of: ranges)
    }

    private static func text(of ranges: [ClosedRange<UInt16>]) -> String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
    }

    // MARK: - JSON

    private func json(of server: ServerState) -> JSONValue {
        var members = [
            JSONMember("address", server.address.description),
            JSONMember("commandsPerSecond", Int(server.commandsPerSecond.rounded())),
            JSONMember("cpuPercent", .number(Self.percent(server.cpu))),
            JSONMember("keys", server.keys),
            // In bytes, as is the limit.
            JSONMember("memory", server.memory),
            JSONMember("role", server.isMaster ? "master" : "replica"),
        ]
        if let limit = server.memoryLimit { members.append(JSONMember("memoryLimit", limit)) }
        if let libraries = server.libraries {
            members.append(JSONMember("libraries", .array(libraries.map { .string($0) })))
        }
        members += server.isMaster ? masterMembers(server) : replicaMembers(server)
        return .object(members.sorted { $0.name < $1.name })
    }

    private func masterMembers(_ master: ServerState) -> [JSONMember] {
        [
            JSONMember("partitions", .array(inspection.partitions(of: master).map(\.json))),
            JSONMember("slots", Self.text(of: inspection.slots(of: master))),
        ]
    }

    private func replicaMembers(_ replica: ServerState) -> [JSONMember] {
        var members = [JSONMember("isLinked", replica.isLinked)]
        let master = inspection.masters.first { master in
            inspection.replicas(of: master).contains { $0.address == replica.address }
        }
        if let master {
            members.append(JSONMember("master", master.address.description))
            members.append(JSONMember("bytesBehind", inspection.lag(of: replica, behind: master)))
        }
        if let silence = replica.silence { members.append(JSONMember("secondsSinceHeard", silence)) }
        return members
    }
}

extension SentinelState {
    fileprivate var line: String {
        "\(address)  Sentinel  says \(master), epoch \(epoch), quorum \(quorum), \(replicas) replicas"
    }

    fileprivate var json: JSONValue {
        .object([
            JSONMember("address", address.description),
            JSONMember("epoch", epoch),
            JSONMember("master", master.description),
            JSONMember("quorum", quorum),
            JSONMember("replicas", replicas),
        ])
    }
}

extension PartitionState {
    /// Only the number where the rest could not be read.
    fileprivate var json: JSONValue {
        var members: [JSONMember] = []
        if let entries { members.append(JSONMember("mirrored", entries.mirrored)) }
        members.append(JSONMember("number", number))
        if let entries {
            members.append(JSONMember("setAside", entries.setAside))
            members.append(JSONMember("timers", entries.timers))
            members.append(JSONMember("waiting", entries.waiting))
        }
        return .object(members)
    }
}

extension Finding {
    var line: String { "\(weight.rawValue): \(text)" }
}

extension [Finding] {
    /// The members `advice` and `wrong`: lines for people.
    var members: [JSONMember] {
        [Finding.Weight.advice, .wrong].map { weight in
            JSONMember(weight.rawValue, .array(filter { $0.weight == weight }.map { .string($0.text) }))
        }
    }
}
