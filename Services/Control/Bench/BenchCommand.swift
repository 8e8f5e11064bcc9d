internal import ArgumentParser
internal import Glibc
internal import SignalingProtocol

/// `heliographctl bench`.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Puts load on the cluster: users who send each other messages; says how fast it was.",
        discussion: """
            Makes an app of its own and removes it afterwards. Its users are real clients over WebSocket; each sends to \
            the next one. This program is part of the measurement: run it on another machine than the cluster, and \
            several at once for more load than one makes. All users have one address, which gateways bound \
            (HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT). SIGINT ends the run early; it cleans up nevertheless.

            Exit codes: 0 all messages arrived; 1 users could not log in or were lost, or messages were refused or did \
            not arrive.
            """)

    /// Descriptors that the process needs beside those of its users.
    private static let ownDescriptors = 64

    @Option(help: "How many users: 2 to 20000.")
    var users = 100

    @Option(help: "Messages per second, of all users together: 1 to 100000.")
    var rate = 200

    @Option(help: "Seconds for which messages are sent: 1 to 3600.")
    var seconds = 10

    @Option(help: "Logins per second: 1 to 10000.")
    var loginsPerSecond = 100

    @Option(help: "Bytes of a message: 32 to 8192.")
    var size = 100

    @OptionGroup var gateways: GatewayOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (2...20_000).contains(users) else { throw ValidationError("--users must be 2...20000") }
        guard (1...100_000).contains(rate) else { throw ValidationError("--rate must be 1...100000") }
        guard (1...3600).contains(seconds) else { throw ValidationError("--seconds must be 1...3600") }
        guard (1...10_000).contains(loginsPerSecond) else {
            throw ValidationError("--logins-per-second must be 1...10000")
        }
        guard (32...Limits.messageBytes).contains(size) else {
            throw ValidationError("--size must be 32...\(Limits.messageBytes)")
        }
    }

    func run() async throws {
        try await Failure.reported {
            signal(SIGPIPE, SIG_IGN)
            try raiseOpenFiles()
            let load = BenchLoad(
                users: users, rate: rate, seconds: seconds, loginsPerSecond: loginsPerSecond, size: size)
            let run = BenchRun(load: load, gateways: try await gateways.endpoints())
            let report = try await run.report()
            output.show(report)
            if !report.isClean { throw ExitCode.failure }
        }
    }

    /// Every user needs a descriptor.
    private func raiseOpenFiles() throws {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        let needed = rlim_t(users + Self.ownDescriptors)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < needed else { return }
        limit.rlim_cur = limit.rlim_max
        guard limit.rlim_max >= needed, setrlimit(resource, &limit) == 0 else {
            throw Failure.refused(
                "\(users) users need \(needed) open files; this process may have \(limit.rlim_max) (ulimit -n)")
        }
    }
}
