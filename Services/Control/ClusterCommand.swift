internal import ArgumentParser
internal import ControlInspection
internal import RedisClient
internal import SignalingWire

/// `heliographctl cluster ...`.
struct ClusterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster", abstract: "Shows how Redis is doing.",
        subcommands: [Status.self, ReshardCheck.self])

    /// How long Redis is watched, to count commands and CPU time.
    static let watchTime = Duration.seconds(1)

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows the servers of Redis, and what is wrong with them.",
            discussion: """
                Takes about a second. The exit code is 1 when something is wrong; lines of advice do not change it. Redis is \
                found by HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)).
                """)

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                let inspection = try await ControlRedis.inspector().inspect(for: ClusterCommand.watchTime)
                output.show(InspectionOutput(inspection: inspection))
                if inspection.findings.contains(where: { $0.weight == .wrong }) { throw ExitCode.failure }
            }
        }
    }

    struct ReshardCheck: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says what stands against moving slots of a Redis Cluster now.",
            discussion: """
                Searches all keys for channels with more than \(ReshardBounds.members) members: about 1 ms of each master's \
                time per thousand keys, with other requests in between. The exit code is 1 when something stands against it.
                """)

        private struct Report: Printable {
            let flavour: RedisFlavour
            let obstacles: [String]

            var members: [JSONMember] {
                [
                    JSONMember("flavour", flavour.rawValue),
                    JSONMember("obstacles", .array(obstacles.map { .string($0) })),
                ]
            }

            var lines: [String] {
                switch flavour {
                case .single: ["Redis is one server: there are no slots to move"]
                case .sentinel: ["Redis is one master, watched by Sentinels: there are no slots to move"]
                case .cluster: obstacles.isEmpty ? ["nothing stands against moving slots"] : obstacles
                }
            }
        }

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                let inspector = try ControlRedis.inspector()
                let inspection = try await inspector.inspect(for: .zero)
                let channels =
                    inspector.flavour == .cluster
                    ? try await inspector.channels(on: inspection.masters.map(\.address)) : []
                let obstacles = inspection.obstacles(channels: channels)
                output.show(Report(flavour: inspector.flavour, obstacles: obstacles))
                if !obstacles.isEmpty { throw ExitCode.failure }
            }
        }
    }
}
