package import SignalingProtocol

/// What went wrong between us and PostgreSQL.
package struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Kinds of failure that are ours and have no SQLSTATE.
    package enum Kind: String, Sendable {
        /// The URL cannot be used.
        case configuration = "CONFIGURATION"
        /// There is no connection, or it broke: whether a statement under way took effect is unknown.
        case closed = "CLOSED"
        /// The time bound passed: whether the statement took effect is unknown.
        case timeout = "TIMEOUT"
        /// A bound on waiting work was hit; nothing was sent.
        case full = "FULL"
        /// A value holds the NUL character, which PostgreSQL's text cannot hold; nothing was sent.
        case nul = "NUL"
        /// The answer has another shape than the query promises.
        case shape = "SHAPE"
        /// The database's migrations are not those of this build.
        case migration = "MIGRATION"
    }

    /// PostgreSQL's SQLSTATE (five characters), or the raw value of a ``Kind``.
    package var code: String
    /// What happened, without values of parameters.
    package var message: String

    /// Makes an error of our own.
    package init(_ kind: Kind, _ message: String) {
        code = kind.rawValue
        self.message = message
    }

    /// Makes an error that the server reported.
    /// - Parameter sqlState: five characters.
    package init(sqlState: String, message: String) {
        code = sqlState
        self.message = message
    }

    /// Which failure of our own it is; nil for the server's.
    package var kind: Kind? { Kind(rawValue: code) }

    /// Whether the request itself is at fault (bad value, broken constraint), so that it fails again when repeated.
    package var isDataError: Bool { kind == .nul || code.hasPrefix("22") || code.hasPrefix("23") }

    /// Whether a row with that key is already there.
    package var isDuplicate: Bool { code == "23505" }

    /// Whether the row belongs to one that is not there.
    package var isMissingReference: Bool { code == "23503" }

    /// Whether the connection is of no more use: it is closed or does not answer, the server reports so (class 08) or shuts
    /// down (57P), or the schema changed under prepared statements (0A000, 26000), which a new connection cures.
    var endsConnection: Bool {
        kind == .closed || kind == .timeout || code.hasPrefix("08") || code.hasPrefix("57P") || code == "0A000"
            || code == "26000"
    }

    /// What a client is told: a NUL is their mistake; lateness is a timeout; all else means try again.
    package var signaling: SignalingError {
        switch kind {
        case .nul: SignalingError(.wrongParameter, .nulCharacter, "a value holds the NUL character")
        case .full: SignalingError(.failed, .overloaded, message)
        case .closed, .timeout, .configuration, .shape, .migration: .unavailable("postgres")
        case nil where isDataError: SignalingError(.failed, .refusedByPostgres, "PostgreSQL refused it (\(code))")
        case nil: .unavailable("postgres")
        }
    }

    /// Code and message on one line.
    package var description: String { "postgres \(code): \(message)" }
}
