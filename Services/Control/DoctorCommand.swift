internal import ArgumentParser
internal import PostgresStore
internal import RedisStore
internal import SignalingWire

/// `heliographctl doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Says what is wrong with the stores, and what to take care of.",
        discussion: """
            Looks at Redis as `cluster status` does, searches its keys for very large channels as `cluster reshard-check` does, \
            and asks each server of PostgreSQL. The exit code is 1 when something is wrong. Redis is found by \
            HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)).
            """)

    private struct Report: Printable {
        let findings: [Finding]

        var members: [JSONMember] { findings.members }

        var lines: [String] { findings.isEmpty ? ["nothing is wrong"] : findings.map(\.line) }
    }

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            let findings = try await Self.redis() + Self.postgres()
            output.show(Report(findings: findings))
            if findings.contains(where: { $0.weight == .wrong }) { throw ExitCode.failure }
        }
    }

    private static func redis() async throws -> [Finding] {
        let inspector = try ControlRedis.inspector()
        let inspection = try await inspector.inspect(for: .zero)
        let channels = try await inspector.channels(on: inspection.masters.map(\.address))
        return inspection.findings + channels.map { .advice($0.line(in: inspector.flavour)) }
    }

    private static func postgres() async throws -> [Finding] {
        // Without tables the servers cannot be asked about the call log; the check below says what is missing.
        let inspection = try? await Database.inspect()
        let wrong = inspection?.wrong.map { Finding.wrong("PostgreSQL: \($0)") } ?? []
        let advice = inspection?.advice.map { Finding.advice("PostgreSQL: \($0)") } ?? []
        do {
            try await Database.with { _ in }
        } catch let error as PostgresError where wrong.isEmpty {
            return [.wrong("PostgreSQL: \(Failure(error).message)")] + advice
        } catch is PostgresError {
            // What each server said is more exact.
        }
        return wrong + advice
    }
}
