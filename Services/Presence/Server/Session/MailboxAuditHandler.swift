internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import PostgresStore
internal import SignalingProtocol

/// Notes what gateways do with mailboxes for the server API: they change them in Redis themselves, and have no
/// connection to PostgreSQL.
struct MailboxAuditHandler: Sendable {
    let audit: AuditStore

    func note(_ command: NoteMailboxAct, _ context: CommandContext) async throws(SignalingError) -> Done {
        let act = command.version.map { AuditedAct.recall(version: $0) } ?? .emptyMailbox
        try await answerOfPostgres { () throws(PostgresError) in
            try await audit.note(act, to: command.user, by: AuditCause(context))
        }
        return Done()
    }
}
