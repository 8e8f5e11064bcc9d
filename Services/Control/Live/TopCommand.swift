internal import ArgumentParser
internal import ClusterBus
internal import ControlInspection
internal import Glibc
internal import PostgresStore
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol

/// `heliographctl top`.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows the cluster in numbers, again and again: gateways, messages, calls, backlog, stores.",
        discussion: """
            Rates of messages are counted by the gateways: name their admin listeners with --metrics, as often as there are. The \
            rest is read from Redis and PostgreSQL. The picture is fitted into the terminal; without colours if NO_COLOR is set or TERM \
            is dumb. SIGINT ends it. For scripts: --once, with or without --json.
            """)

    @Flag(help: "Print the numbers once, as text or with --json.")
    var once = false

    @Option(help: "Seconds over which rates are counted, and between two pictures: 1 to 60.")
    var interval = 2

    @Option(parsing: .upToNextOption, help: "Where gateways answer /metrics: http://HOST:PORT ...; 64 at most.")
    var metrics: [MetricsArgument] = []

    @Flag(help: "Use no colours.")
    var plain = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...60).contains(interval) else { throw ValidationError("--interval must be 1...60") }
        guard metrics.count <= 64 else { throw ValidationError("--metrics may name 64 processes at most") }
        guard once || !output.json else { throw ValidationError("--json needs --once") }
    }

    func run() async throws {
        try await Failure.reported {
            if once { return output.show(try await sample()) }
            guard isatty(STDOUT_FILENO) == 1 else {
                throw Failure(message: "top needs a terminal; use --once", code: 64)
            }
            Terminal.begin()
            defer { Terminal.end() }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await StopSignal.wait() }
                tasks.addTask {
                    while !Task.isCancelled {
                        let sample = try await sample()
                        let size = Terminal.size
                        let screen = TopScreen(
                            sample: sample, width: size.columns, height: size.rows,
                            colour: !plain && Terminal.hasColours)
                        guard !Task.isCancelled, Terminal.show(screen.lines) else { return }
                    }
                }
                try await tasks.next()
                tasks.cancelAll()
            }
        }
    }

    // MARK: - Looking

    /// Looks at everything for the interval.
    /// - Throws: only what no later look can mend: a URL that cannot be used, or a Redis that is not run as it says.
    private func sample() async throws -> TopSample {
        let clock = ContinuousClock()
        let begin = clock.now
        let before = await MetricsReader.read(metrics)
        let measured = clock.now
        var sample = TopSample(takenAt: 0)
        do throws(RedisError) {
            sample.redis = try await ControlRedis.inspector().inspect(for: .seconds(interval))
        } catch {
            guard error.code != .url, error.code != .flavour else { throw error }
            sample.problems.append("Redis: \(error.message)")
        }
        if sample.redis != nil { await lookAtProcesses(&sample) }
        await lookAtPostgres(&sample)
        let rest = Duration.seconds(interval) - (clock.now - begin)
        if rest > .zero { try? await Task.sleep(for: rest) }
        let seconds = (clock.now - measured) / .seconds(1)
        let after = await MetricsReader.read(metrics)
        sample.rates = Self.rates(before, after, seconds: seconds)
        if after.answers < metrics.count {
            sample.problems.append(
                "\(metrics.count - after.answers) of \(metrics.count) processes do not answer /metrics")
        }
        sample.takenAt = WallClock.milliseconds
        return sample
    }

    /// Nil when the same processes did not answer both times.
    private static func rates(
        _ before: MetricsReader.Sums, _ after: MetricsReader.Sums, seconds: Double
    ) -> TopRates? {
        guard after.answers > 0, before.answers == after.answers, seconds > 0 else { return nil }
        func rate(_ name: String) -> Double { max(0, after[name] - before[name]) / seconds }
        return TopRates(
            messages: rate("heliograph_gateway_call_duration_seconds_count{call=\"message\"}")
                + rate("heliograph_gateway_api_messages_total"),
            deliveries: rate("heliograph_gateway_deliveries_total"), logins: rate("heliograph_gateway_logins_total"),
            processes: after.answers)
    }

    /// What the processes have written into Redis.
    private struct Fleet: Sendable {
        let kinds: [String]
        let gateways: [TopGateway]
    }

    private func lookAtProcesses(_ sample: inout TopSample) async {
        do {
            let fleet = try await ControlRedis.withConnection(libraries: []) { connection in
                let leases = GatewayLeases(connection: connection)
                let ids = try await leases.list()
                let known = ids.isEmpty ? [:] : try await leases.leases(of: ids)
                let gateways = known.map { id, lease in
                    TopGateway(
                        id: id.rawValue, address: "\(lease.host):\(lease.port)", connections: lease.connections)
                }
                let kinds = try await RunningInstances.list(connection).map(\.record.kind)
                return Fleet(kinds: kinds, gateways: gateways)
            }
            sample.processes = Dictionary(fleet.kinds.map { ($0, 1) }, uniquingKeysWith: +)
            sample.gateways = fleet.gateways.sorted { ($1.connections, $0.id) < ($0.connections, $1.id) }
        } catch {
            sample.problems.append("Redis: what the processes have written cannot be read")
        }
    }

    private func lookAtPostgres(_ sample: inout TopSample) async {
        do {
            var numbers: ClusterNumbers?
            try await Database.with(checked: false) { numbers = try await ClusterNumbers.read(from: $0) }
            sample.numbers = numbers
            for index in sample.gateways.indices {
                sample.gateways[index].sessions = numbers?.gateways[sample.gateways[index].id] ?? 0
            }
        } catch let error as PostgresError {
            sample.problems.append("PostgreSQL: \(Failure(error).message)")
        } catch {
            sample.problems.append("PostgreSQL: \(error)")
        }
    }
}
