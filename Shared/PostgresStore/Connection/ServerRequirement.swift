/// Which servers a connection may use: the `target_session_attrs` of the URL.
///
/// Checked here rather than by libpq, whose error for a standby looks like that for a server that is down.
enum ServerRequirement: String, Sendable {
    /// Any server. The default for a URL with one host.
    case any
    /// A primary, even one whose transactions are read-only by default.
    case primary
    /// A primary whose transactions may write. The default for a URL with several hosts.
    case readWrite = "read-write"

    /// What a URL requires.
    /// - Parameters:
    ///   - text: the value of `target_session_attrs`; nil when the URL has none.
    ///   - hosts: the number of hosts of the URL.
    /// - Throws: ``PostgresError/Kind/configuration`` for other values; among them those
    ///   for connections that only read.
    init(_ text: String?, hosts: Int) throws(PostgresError) {
        guard let text else {
            self = hosts > 1 ? .readWrite : .any
            return
        }
        guard let requirement = ServerRequirement(rawValue: text) else {
            throw PostgresError(
                .configuration,
                "target_session_attrs in the PostgreSQL URL must be read-write, primary or any, because services write")
        }
        self = requirement
    }

    /// Why a server must not be used; nil when it may be.
    /// - Parameters:
    ///   - isStandby: whether the server is in recovery.
    ///   - isReadOnly: its `default_transaction_read_only`.
    func refusal(isStandby: Bool, isReadOnly: Bool) -> PostgresError? {
        if self == .any { return nil }
        if isStandby { return .standby }
        // Not of kind `standby`, which ends a process at its start: somebody has set this for a
        // while, as before a switchover.
        guard self == .readWrite, isReadOnly else { return nil }
        return PostgresError(.closed, "PostgreSQL takes no writes: default_transaction_read_only is on")
    }
}
