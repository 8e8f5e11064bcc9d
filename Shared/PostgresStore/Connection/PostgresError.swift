package import SignalingProtocol

/// Why a PostgreSQL statement failed.
package struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Failures that this library detects itself, which have no SQLSTATE.
    package enum Kind: String, Sendable {
        /// The connection URL is invalid.
        case configuration = "CONFIGURATION"
        /// There is no connection, or it broke: it is unknown whether a statement that was running took effect.
        case closed = "CLOSED"
        /// The time limit passed: it is unknown whether the statement took effect.
        case timeout = "TIMEOUT"
        /// Too much work was waiting already; nothing was sent.
        case full = "FULL"
        /// A value contains the NUL character, which PostgreSQL's text cannot store; nothing was sent.
        case nul = "NUL"
        /// The result does not have the columns or types that the query expects.
        case shape = "SHAPE"
        /// This build does not work with the migrations that are applied to the database.
        case migration = "MIGRATION"
        /// The database is a standby.
        case standby = "STANDBY"
    }

    /// PostgreSQL's SQLSTATE (five characters), or the raw value of a ``Kind``.
    package var code: String
    /// A description of the failure; never contains parameter values.
    package var message: String

    /// Creates an error that this library detected.
    package init(_ kind: Kind, _ message: String) {
        code = kind.rawValue
        self.message = message
    }

    /// Creates an error that the server reported.
    /// - Parameter sqlState: the five-character SQLSTATE.
    package init(sqlState: String, message: String) {
        code = sqlState
        self.message = message
    }

    /// The server is a standby.
    static let standby = PostgresError(.standby, "the database is a standby, which takes no writes: name the primary")
    /// All hosts of the URL are standbys.
    static let onlyStandbys = PostgresError(
        .standby, "all hosts of the PostgreSQL URL are standbys, which take no writes: name the primary too")

    /// The kind of a failure that this library detected; nil for the server's errors.
    package var kind: Kind? { Kind(rawValue: code) }

    /// Whether this build must not use the database; a retry does not help.
    package var isRefusal: Bool { kind == .migration || kind == .standby }

    /// Whether the request itself is at fault (invalid value, violated constraint), so that repeating it fails again.
    package var isDataError: Bool { kind == .nul || code.hasPrefix("22") || code.hasPrefix("23") }

    /// Whether the statement violated a unique constraint: the key exists already.
    package var isDuplicate: Bool { code == "23505" }

    /// Whether the statement violated a foreign key: the referenced row does not exist.
    package var isMissingReference: Bool { code == "23503" }

    /// Whether a lock was not free in time, or the statement was ended because two waited for each other.
    package var isLockConflict: Bool { code == "55P03" || code == "40P01" }

    /// Whether an app has stored as much of something as it may (migration 0031); the message says what, and the bound.
    package var isBoundOfApp: Bool { code == "23H01" }

    /// Whether the server ended the statement at its time limit; the connection can be used again.
    package var isStatementTimeout: Bool { code == "57014" }

    /// Whether the server refused a write because its transactions are read-only: it is a
    /// standby, or about to become one.
    var isReadOnly: Bool { code == "25006" }

    /// Whether the connection must be replaced: it is closed or does not answer, the server takes no writes, reports a
    /// connection error (class 08) or shuts down (57P), or the schema changed under prepared statements (0A000, 26000).
    var endsConnection: Bool {
        kind == .closed || kind == .timeout || isReadOnly || code.hasPrefix("08") || code.hasPrefix("57P")
            || code == "0A000" || code == "26000"
    }

    /// Whether the next connection should be tried with another host of the URL first.
    var leavesHost: Bool { kind == .timeout || isReadOnly }

    /// The error that clients are given: NUL characters and other data errors are the fault of the request, a full
    /// queue is overload, and after any other failure PostgreSQL counts as unavailable.
    package var signaling: SignalingError {
        switch kind {
        case .nul: SignalingError(.wrongParameter, .nulCharacter, "a value contains the NUL character")
        case .full: SignalingError(.failed, .overloaded, message)
        case .closed, .timeout, .configuration, .shape, .migration, .standby: .unavailable("postgres")
        case nil where isDataError:
            SignalingError(.failed, .refusedByPostgres, "PostgreSQL refused the statement (\(code))")
        case nil: .unavailable("postgres")
        }
    }

    /// Fails with `timeout` when a moment is over; nil never is.
    static func check(_ end: ContinuousClock.Instant?) throws(PostgresError) {
        if let end, ContinuousClock.now > end { throw PostgresError(.timeout, "the time for this was over") }
    }

    /// Code and message on one line.
    package var description: String { "postgres \(code): \(message)" }
}

/// Asks PostgreSQL for what a client waits for.
/// - Parameter refusal: the error that the client is given when PostgreSQL fails.
package nonisolated(nonsending) func answerOfPostgres<Value>(
    or refusal: (PostgresError) -> SignalingError = { $0.signaling },
    _ ask: nonisolated(nonsending) () async throws(PostgresError) -> Value
) async throws(SignalingError) -> Value {
    do {
        return try await ask()
    } catch {
        throw refusal(error)
    }
}
