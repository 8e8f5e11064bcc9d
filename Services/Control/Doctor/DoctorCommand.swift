internal import ArgumentParser
internal import ControlInspection
internal import Glibc
internal import PostgresStore
internal import SignalingWire

/// `heliographctl doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Says what is wrong with the cluster, and what to do about it.",
        discussion: """
            Looks at this environment's settings, at each server of Redis (files, memory, release, work that waits, and as \
            `cluster status` and `cluster reshard-check` do) and of PostgreSQL (roles, release, connections, migrations), at clocks, at \
            the running processes (kinds, levels, open files), at webhooks (events that wait, dead letters, receivers that fail), \
            before-hooks (whether their servers can be reached from here, and whether gateways ask them), trunks, keys of the server \
            API, and at the certificates that gateways and Redis show.

            Exit codes: 0 nothing is wrong; 1 something is wrong; 2 with --strict, nothing is wrong, but there is advice; 78 Redis \
            is not run as its URL says. Redis is found by HELIOGRAPH_REDIS_URL (default \(ControlRedis.standardURL)).
            """)

    private struct Report: Printable {
        let diagnosis: Diagnosis

        var members: [JSONMember] {
            diagnosis.findings.members + [JSONMember("facts", .array(diagnosis.facts.map { .string($0) }))]
        }

        var lines: [String] {
            let wrong = diagnosis.findings.filter { $0.weight == .wrong }
            let advice = diagnosis.findings.filter { $0.weight == .advice }
            let verdict = wrong.isEmpty ? ["nothing is wrong"] : []
            return (wrong + advice).map(\.line) + diagnosis.facts.map { "fact: \($0)" } + verdict
        }
    }

    @Flag(help: "End with 2 where there is only advice.")
    var strict = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Failure.reported {
            var diagnosis = Diagnosis()
            try await diagnosis.lookAtRedis()
            await diagnosis.lookAtPostgres()
            diagnosis.lookAtSettings()
            output.show(Report(diagnosis: diagnosis))
            if diagnosis.findings.contains(where: { $0.weight == .wrong }) { throw ExitCode.failure }
            if strict, !diagnosis.findings.isEmpty { throw ExitCode(2) }
        }
    }
}

/// What `doctor` has found so far.
struct Diagnosis {
    private(set) var findings: [Finding] = []
    /// Lines about what there is, whether good or bad.
    private(set) var facts: [String] = []
    /// The kinds of processes that run; nil when Redis could not be asked.
    var runningKinds: Set<String>?
    /// What gateways tell of the server API: whether they serve it.
    var gatewaysServeAPI: [Bool] = []

    mutating func add(_ more: [Finding]) { findings += more }
    mutating func add(facts more: [String]) { facts += more }

    mutating func wrong(_ text: String) { findings.append(.wrong(text)) }
    mutating func advise(_ text: String) { findings.append(.advice(text)) }

    // MARK: - Clocks

    /// By how many milliseconds a server's clock may differ from this machine's: tokens and messages have seconds.
    private static let tolerance: Int64 = 1000

    /// Judges a server's clock.
    /// - Parameter lead: between which bounds it is ahead of this machine's, in milliseconds.
    mutating func judge(clockOf server: String, _ lead: ClosedRange<Int64>) {
        let (least, direction) =
            lead.lowerBound > 0 ? (lead.lowerBound, "ahead of") : (-lead.upperBound, "behind")
        guard least > Self.tolerance else { return }
        wrong(
            "the clock of \(server) is at least \(least) ms \(direction) this machine's: tokens expire too early or "
                + "too late; synchronise the clocks of both (NTP)")
    }
}
