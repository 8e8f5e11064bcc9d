internal import ArgumentParser
internal import Glibc
internal import PostgresStore
internal import Provisioning
internal import RedisClient
internal import ServiceKit

/// Why a command failed, with the exit code for scripts.
struct Failure: Error {
    var message: String
    var code: Int32

    /// For example: the app does not exist, an id is taken, or the tables are of another version.
    static func refused(_ message: String) -> Failure { Failure(message: message, code: 1) }

    init(message: String, code: Int32) {
        self.message = message
        self.code = code
    }

    init(_ error: PostgresError) {
        message = error.message
        switch error.kind {
        case .configuration: code = EX_CONFIG
        case .closed, .timeout: code = EX_UNAVAILABLE
        case .full, .nul, .shape, .migration, .standby, nil: code = 1
        }
        if error.kind == nil { message = error.description }
    }

    init(_ error: RedisError) {
        message = "Redis: \(error.message)"
        switch error.code {
        case .url, .flavour: code = EX_CONFIG
        case .closed, .timeout: code = EX_UNAVAILABLE
        default: code = 1
        }
    }

    /// Runs a command's body; turns an error into one line on standard error and an exit code.
    static func reported(_ body: () async throws -> Void) async throws {
        let failure: Failure
        do {
            return try await body()
        } catch let error as PostgresError {
            failure = Failure(error)
        } catch let error as RedisError {
            failure = Failure(error)
        } catch let error as ConfigurationError {
            failure = Failure(message: error.description, code: EX_CONFIG)
        } catch let problem as SettingProblem {
            failure = Failure(message: problem.ofOption, code: EX_USAGE)
        } catch let error as Failure {
            failure = error
        }
        let line = Array("heliographctl: \(failure.message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        throw ExitCode(failure.code)
    }
}
