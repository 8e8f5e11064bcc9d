internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// What `heliographctl doctor` says beyond ``RedisInspection/findings``.
extension RedisInspection {
    /// The oldest release of Redis with what is used of it.
    private static let leastRelease = [7, 0]
    /// Where memory in use is worth a thought, as parts of the limit, and of the machine's
    /// memory where there is no limit.
    private static let (fullness, unlimitedFullness) = (0.75, 0.8)
    /// For how long, in milliseconds, a command or a change normally never waits.
    private static let patience: Int64 = 10_000

    /// What is to be done about releases, files, memory and work that waits.
    package var care: [Finding] { servers.flatMap(Self.care) + delays }

    /// One line about each server.
    package var facts: [String] {
        servers.map { server in
            let file = server.keepsFile.map { $0 ? ", append-only file" : ", no append-only file" } ?? ""
            let limit = server.memoryLimit.map { " of \($0 >> 20)" } ?? ""
            return "Redis \(server.version) at \(server.address), \(server.isMaster ? "master" : "replica")\(file), "
                + "\(server.memory >> 20)\(limit) MiB, \(server.keys) keys"
        }
    }

    private static func care(of server: ServerState) -> [Finding] {
        let address = server.address
        var findings: [Finding] = []
        let release = server.version.split(separator: ".").prefix(2).compactMap { Int($0) }
        if release.count == 2, release.lexicographicallyPrecedes(leastRelease) {
            findings.append(.wrong("\(address) is Redis \(server.version): install 7.0 or later"))
        }
        if server.keepsFile == false {
            findings.append(
                .wrong(
                    "\(address) keeps no append-only file: messages and sessions are lost when it restarts; "
                        + "CONFIG SET appendonly yes, and write `appendonly yes` into its configuration"))
        } else if server.settings?["appendfsync"] == "no" {
            findings.append(
                .advice(
                    "\(address) leaves it to the system when its file reaches the disk (appendfsync no): set it to "
                        + "everysec, or always, so that a power failure costs two seconds at most, or nothing"))
        }
        for name in server.failedWrites {
            findings.append(
                .wrong(
                    "\(address) could not write its files (\(name)): look at its log; free its disk, or let it write "
                        + "to its directory"))
        }
        return findings + memoryCare(of: server)
    }

    private static func memoryCare(of server: ServerState) -> [Finding] {
        let used = Double(server.memory)
        guard let limit = server.memoryLimit else {
            guard let system = server.systemMemory, system > 0 else { return [] }
            if used > Double(system) * unlimitedFullness {
                return [
                    .wrong(
                        "\(server.address) uses \(server.memory >> 20) MiB of its machine's \(system >> 20) MiB and "
                            + "has no maxmemory: the system will kill it; give it memory, or add masters, and set "
                            + "maxmemory")
                ]
            }
            return [
                .advice(
                    "\(server.address) has no maxmemory: when the machine's memory is used up, the system kills it "
                        + "instead of messages being refused; set maxmemory to at most half of the machine's "
                        + "\(system >> 20) MiB")
            ]
        }
        // Beyond `RedisInspection.fullness` the usual findings say it.
        guard used > Double(limit) * fullness, used <= Double(limit) * RedisInspection.fullest else { return [] }
        return [
            .advice(
                "\(server.address) uses \(server.memory * 100 / limit) % of its maxmemory, "
                    + "\((limit - server.memory) >> 20) MiB are left: raise maxmemory, or add masters and move slots "
                    + "to them, before messages are refused")
        ]
    }

    /// Work that nobody has dealt with for long.
    private var delays: [Finding] {
        var oldest: [PartitionState.Work: Int64] = [:]
        for partition in partitions { oldest.merge(partition.entries?.ages ?? [:], uniquingKeysWith: max) }
        let late = oldest.filter { $0.value > Self.patience }
        return late.sorted { $0.key.name < $1.key.name }.map { work, age in
            let (service, seconds) = (work.service.rawValue, age / 1000)
            let text =
                switch work {
                case .commands:
                    "commands to \(service) have waited for \(seconds) s: start a \(service) process, or restart the "
                        + "one that hangs (its log and /readyz tell)"
                case .mirror(.changes):
                    "\(service)'s copies in PostgreSQL are \(seconds) s behind: " + Self.seeTheCopier(service)
                case .mirror(.messages):
                    "messages have waited for \(seconds) s to become events of webhooks: " + Self.seeTheCopier(service)
                }
            return .wrong(text)
        }
    }

    private static func seeTheCopier(_ service: String) -> String {
        "see whether \(service) runs and its log says `could not copy changes`, and whether somebody locks its "
            + "tables (pg_locks)"
    }
}
