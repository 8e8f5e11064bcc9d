internal import ArgumentParser
internal import ClusterBus
internal import ClusterState
internal import Glibc
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl versions`.
struct VersionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "Lists the running processes by kind and level.",
        discussion: """
            The cluster's level is the least of its processes; a newer release writes its new formats only when all have its \
            level. Redis is found by HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)).
            """)

    private struct Report: Printable {
        let instances: [RunningInstance]

        /// Nil when no process is running.
        private var clusterLevel: Int64? { instances.map(\.record.level).min() }

        /// Ids of the processes that keep the cluster at its level, if others have a higher one.
        private var heldBackBy: [String] {
            guard let clusterLevel, instances.contains(where: { $0.record.level > clusterLevel }) else { return [] }
            return instances.filter { $0.record.level == clusterLevel }.map(\.id)
        }

        var members: [JSONMember] {
            var members = [
                // This program's level.
                JSONMember("level", ClusterLevel.current),
                JSONMember("instances", .array(instances.map(\.json))),
                JSONMember("heldBackBy", .array(heldBackBy.map { .string($0) })),
            ]
            if let clusterLevel { members.append(JSONMember("clusterLevel", clusterLevel)) }
            return members
        }

        var lines: [String] {
            guard let clusterLevel else { return ["no process is running"] }
            let held = heldBackBy.isEmpty ? [] : ["held back by \(heldBackBy.joined(separator: ", "))"]
            return instances.map(\.line) + ["cluster level \(clusterLevel)"] + held
        }
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            output.show(Report(instances: try await Self.running()))
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

extension RunningInstance: PrintableRecord {
    var members: [JSONMember] {
        [
            JSONMember("host", record.host),
            JSONMember("id", id),
            JSONMember("kind", record.kind),
            JSONMember("level", record.level),
            // In Unix milliseconds.
            JSONMember("since", record.since.milliseconds),
            JSONMember("version", record.version),
        ]
    }

    var line: String {
        "\(record.kind)  level \(record.level)  \(id)  on \(record.host)  \(record.version)  "
            + "since \(Output.time(milliseconds: record.since.milliseconds))"
    }
}
