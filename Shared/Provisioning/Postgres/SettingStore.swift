internal import BusProtocol
package import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// Why settings were not applied; nothing was changed.
package enum ApplyFailure: Error, Equatable {
    /// Somebody else has changed what is set up.
    case changedMeanwhile
    /// The moment was over until which it was to be done.
    case tooLate
    /// The changes take more bytes of JSON than may be told.
    case longAnswer
}

/// How settings are applied.
package struct ApplyTerms: Sendable {
    /// Whether the changes are only told, not made.
    package var isDryRun: Bool
    /// Who makes the changes, for the audit trail; nil for what the connections say.
    package var cause: AuditCause?
    /// When it is too late to keep the changes; nil for never.
    package var end: ContinuousClock.Instant?
    /// The bytes of JSON that the changes may take; nil for any number.
    package var answerBytes: Int?

    package init(
        isDryRun: Bool, cause: AuditCause? = nil, end: ContinuousClock.Instant? = nil, answerBytes: Int? = nil
    ) {
        self.isDryRun = isDryRun
        self.cause = cause
        self.end = end
        self.answerBytes = answerBytes
    }
}

/// What is set up, read and changed as a whole.
package struct SettingStore: Sendable {
    /// In milliseconds; below ``PostgresConfiguration/queryTimeout``, so that the error says what was waited for.
    private static let longestLockWait = 4000
    private static let reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    private static let writing = begin(changing: ["apps", "before_hooks", "sip_trunks", "sip_numbers"])

    /// The beginning of a transaction that reads what is set up and changes it. Others who set up the same wait
    /// meanwhile; who only reads does not wait.
    /// - Parameter tables: the tables that are locked, in the order of these here.
    package static func begin(changing tables: [String]) -> String {
        """
        BEGIN; SET LOCAL lock_timeout = '\(longestLockWait)ms';
        LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE
        """
    }

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Reads what is set up, in one snapshot.
    /// - Throws: ``PostgresError``.
    package func read() async throws -> ActualState {
        try await pool.transaction(Self.reading) { try await ActualState(on: $0) }
    }

    /// Reads and changes in one transaction. Others who set up apps wait meanwhile, so that nothing is overwritten.
    /// - Returns: the changes that were made, or would be.
    /// - Throws: ``SettingProblem``, ``ApplyFailure`` or ``PostgresError``: nothing was changed, unless the end of the
    ///   transaction has failed with `closed` or `timeout`.
    package func apply(_ desired: DesiredState, _ terms: ApplyTerms) async throws -> [SettingChange] {
        try await pool.transaction(terms.isDryRun ? Self.reading : Self.writing) { transaction in
            // The table of webhooks is written all the time by the service, which waits for single rows only.
            if !terms.isDryRun { try await WebhookStore(pool: transaction).lock(desired.webhookApps) }
            let plan = try Plan(desired, over: try await ActualState(on: transaction)) { SecureRandom.hex(bytes: $0) }
            try terms.check(plan.changes)
            guard !terms.isDryRun else { return plan.changes }
            if let cause = terms.cause { try await transaction.act(for: cause) }
            for act in plan.acts {
                try terms.checkTime()
                try await act.perform(on: transaction)
            }
            try terms.checkTime()
            return plan.changes
        }
    }
}

extension ApplyTerms {
    fileprivate func checkTime() throws(ApplyFailure) {
        if let end, ContinuousClock.now > end { throw .tooLate }
    }

    fileprivate func check(_ changes: [SettingChange]) throws(ApplyFailure) {
        guard let answerBytes else { return }
        guard changes.json.compactText.utf8.count <= answerBytes else { throw .longAnswer }
    }
}

extension DesiredState {
    /// The apps whose webhooks the file names.
    fileprivate var webhookApps: [AppID] { apps.filter { !$0.webhooks.isEmpty }.map(\.id) }
}
