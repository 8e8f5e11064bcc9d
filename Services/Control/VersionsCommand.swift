internal import ArgumentParser
internal import ClusterState
internal import Glibc
internal import RedisStore
internal import SignalingProtocol

/// `heliographctl versions`.
struct VersionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "Lists the running processes by kind and level.",
        discussion: """
            The cluster's level is the least of its processes; a newer release writes its new formats only when all have its \
            level. Redis is found by HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)).
            """)

    struct Report: Encodable {
        struct Instance: Encodable {
            var id: String
            var kind: String
            var level: Int64
            var version: String
            var host: String
            var since: Int64
        }

        /// Nil when no process is running.
        var clusterLevel: Int64?
        /// This program's level.
        var level: Int64
        var instances: [Instance]
        /// Ids of the processes that keep the cluster at its level, if others have a higher one.
        var heldBackBy: [String]

        init(_ instances: [RunningInstance]) {
            let levels = instances.map(\.record.level)
            let least = levels.min()
            clusterLevel = least
            level = ClusterLevel.current
            self.instances = instances.map { instance in
                let record = instance.record
                return Instance(
                    id: instance.id, kind: record.kind, level: record.level, version: record.version,
                    host: record.host, since: record.since.milliseconds)
            }
            heldBackBy = least == levels.max() ? [] : instances.filter { $0.record.level == least }.map(\.id)
        }

        /// For people.
        var lines: [String] {
            guard let clusterLevel else { return ["no process is running"] }
            let listed = instances.map { instance in
                "\(instance.kind)  level \(instance.level)  \(instance.id)  on \(instance.host)  \(instance.version)  "
                    + "since \(Output.time(milliseconds: instance.since))"
            }
            let held = heldBackBy.isEmpty ? [] : ["held back by \(heldBackBy.joined(separator: ", "))"]
            return listed + ["cluster level \(clusterLevel)"] + held
        }
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            let report = Report(try await Self.running())
            if output.json { return try Output.json(report) }
            for line in report.lines { print(line) }
        }
    }

    /// The running processes.
    /// - Throws: ``Failure`` when Redis does not answer.
    private static func running() async throws -> [RunningInstance] {
        try await ControlRedis.withConnection { connection in
            do throws(SignalingError) {
                return try await RunningInstances.list(connection)
            } catch {
                throw Failure(message: "Redis: \(error)", code: EX_UNAVAILABLE)
            }
        }
    }
}
