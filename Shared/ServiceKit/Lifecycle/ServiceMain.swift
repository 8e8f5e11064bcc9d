internal import Logging

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The main program of a service's process: settings, logging, metrics, health listener, services, exit code.
package enum ServiceMain {
    /// Runs the service and exits: 0 after a graceful shutdown, 1 after an error, 2 for an invalid argument.
    ///
    /// Arguments set nothing: `--print-configuration` lists the settings, one per line (see ``Setting/line``), `--help`
    /// describes them for people, and `--check-configuration` reads them, says what it ignores and exits with 0 or 1.
    /// - Parameters:
    ///   - service: the service's name, such as `presence`.
    ///   - settings: reads the service's own settings.
    ///   - assemble: builds the service's parts; an error is printed as one line and ends the process.
    package static func run<Settings: Sendable>(
        _ service: String, settings read: @Sendable (inout EnvironmentReader) -> Settings,
        assemble: @Sendable (ServiceContext, Settings) async throws -> ServiceAssembly
    ) async -> Never {
        var reader = EnvironmentReader.process()
        let configuration = ServiceConfiguration(service: service, reading: &reader)
        let settings = read(&reader)
        let order = Order(CommandLine.arguments.dropFirst())
        handle(order, service, reader.settings)
        let ignored: IgnoredSettings
        do {
            ignored = try reader.finish()
        } catch {
            fail(service, "\(error)")
        }
        if order == .check {
            for line in ignored.lines { complain("\(service): \(line)") }
            exit(0)
        }
        prepareProcess()
        ProcessMetrics.declare()
        Release.declare(service: service)
        let logger = LogBootstrap.start(configuration)
        for line in ignored.lines { logger.warning("\(line)") }
        do {
            let context = ServiceContext(configuration: configuration, logger: logger)
            let parts = try await assemble(context, settings)
            let responder = HealthResponder(
                configuration: configuration, checks: parts.checks, routes: parts.routes, details: parts.details,
                observe: parts.observe)
            let health = HealthServer(configuration: configuration, responder: responder, logger: logger)
            let status = await ServiceRunner.run(
                health: health, services: parts.services, deadline: parts.shutdownDeadline, logger: logger)
            if status == 0 { exit(0) }
            endAtOnce(status)
        } catch {
            fail(service, "\(error)")
        }
    }

    /// What the arguments ask the process to do.
    private enum Order {
        case run
        case check
        case list
        case help
        case unknown

        init(_ arguments: ArraySlice<String>) {
            switch Array(arguments) {
            case []: self = .run
            case ["--check-configuration"]: self = .check
            case ["--print-configuration"]: self = .list
            case ["--help"], ["-h"]: self = .help
            default: self = .unknown
            }
        }
    }

    private static func handle(_ order: Order, _ service: String, _ settings: [Setting]) {
        switch order {
        case .run, .check: return
        case .list:
            for setting in settings { print(setting.line) }
            exit(0)
        case .help:
            print("\(service): a Heliograph service, set up by its environment alone:\n")
            for setting in settings {
                let standard = setting.standard.isEmpty ? "none" : setting.standard
                print("  \(setting.name)\n      \(setting.meaning) (\(setting.form); default: \(standard))")
            }
            exit(0)
        case .unknown:
            complain("\(service): takes no arguments but --help, --print-configuration and --check-configuration")
            exit(2)
        }
    }

    private static func fail(_ service: String, _ why: String) -> Never {
        complain("\(service): \(why)")
        endAtOnce(1)
    }

    /// Ends the process without the exit handlers of libraries: after an error, a thread may still be connecting to
    /// PostgreSQL, and libkrb5, which libpq uses there, aborts the process when it is called after its own handler.
    private static func endAtOnce(_ status: Int32) -> Never {
        LogBootstrap.flush()
        _exit(status)
    }

    private static func complain(_ line: String) {
        let bytes = Array("\(line.replacing("\n", with: " "))\n".utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func prepareProcess() {
        // Without this, writing to a connection that the peer has closed would kill the process instead of returning an
        // error.
        signal(SIGPIPE, SIG_IGN)
        // Raised to the hard limit, because every connection needs a descriptor and the soft limit is often 1,024.
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
    }
}
