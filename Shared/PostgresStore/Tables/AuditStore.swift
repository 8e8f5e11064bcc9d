package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// On whose behalf something is done, as the audit trail has it.
package struct AuditCause: Equatable, Sendable {
    private let members: [JSONMember]

    private init(_ kind: String, _ name: String?, _ others: [JSONMember] = []) {
        members = [JSONMember("kind", kind), JSONMember("name", name)] + others
    }

    /// A request of the server API.
    /// - Parameters:
    ///   - key: the id of its key; nil when it came from a gateway of the release before, which does not say it.
    ///   - request: the request's id.
    ///   - trace: its trace id.
    ///   - command: the id of the command that carries the request out.
    package static func key(_ key: String?, request: String?, trace: String?, command: CommandID) -> AuditCause {
        AuditCause(
            "key", key,
            [JSONMember("request", request), JSONMember("trace", trace), JSONMember("command", command.rawValue)])
    }

    /// A command line of `heliographctl`, by a user of the operating system.
    package static func control(user: String) -> AuditCause { AuditCause("heliographctl", user) }

    /// The value of the setting `heliograph.cause`.
    var text: String { JSONValue.object(members).compactText }

    /// A part of a statement's `WITH` that says on whose behalf the statement changes something. The statement must
    /// read from `cause`.
    /// - Parameter place: of the parameter with ``text``; where it is null, what the connection says counts.
    static func setting(_ place: String) -> String {
        """
        cause AS MATERIALIZED (SELECT set_config('heliograph.cause',
            coalesce(\(place)::text, current_setting('heliograph.cause', true), ''), true))
        """
    }
}

/// An act that changes nothing in PostgreSQL, so that it has to be noted by whoever carries it out.
package enum AuditedAct: Equatable, Sendable {
    /// The end of a session.
    case disconnect
    /// A login token that is valid for so many seconds.
    case mint(seconds: Int64)
    /// A view of what happens on a user's connections, for so many seconds at most.
    case trace(seconds: Int)
    /// A removal from a channel, in which the user may not be until a time in Unix seconds (0 for none); or a mute.
    case restrict(RestrictionKind, ChannelName, until: Int64, reason: String)
    /// The end of such a restriction.
    case liftRestriction(RestrictionKind, ChannelName)
    /// An order to a process to end.
    case drain
    /// The deletion of all messages that wait for a user.
    case emptyMailbox
    /// The deletion of a message that waits for a user, by its version.
    case recall(version: Int64)
    /// The end of a user's call, by its id, in the user's name.
    case endCall(String, in: ChannelName)

    fileprivate var word: String {
        switch self {
        case .disconnect: "user.disconnect"
        case .mint: "token.mint"
        case .trace: "user.trace"
        case .restrict(.ban, _, _, _): "channel.remove"
        case .restrict(.mute, _, _, _): "channel.mute"
        case .liftRestriction(.ban, _): "channel.unban"
        case .liftRestriction(.mute, _): "channel.unmute"
        case .drain: "process.drain"
        case .emptyMailbox: "mailbox.empty"
        case .recall: "message.recall"
        case .endCall: "call.end"
        }
    }

    fileprivate var details: JSONValue {
        switch self {
        case .disconnect, .drain, .emptyMailbox: .object([])
        case .mint(let seconds): .object([JSONMember("seconds", seconds)])
        case .trace(let seconds): .object([JSONMember("seconds", seconds)])
        case .restrict(_, let channel, let until, let reason):
            .object([
                JSONMember("channel", channel.rawValue), JSONMember("until", until > 0 ? until : nil),
                JSONMember("reason", reason),
            ])
        case .liftRestriction(_, let channel): .object([JSONMember("channel", channel.rawValue)])
        case .recall(let version): .object([JSONMember("version", version)])
        case .endCall(let call, let channel):
            .object([JSONMember("call", call), JSONMember("channel", channel.rawValue)])
        }
    }
}

/// The audit trail: the table `audit_entries` and the view `audit_trail` (migration 0034). What changes in PostgreSQL
/// is noted by triggers.
package struct AuditStore: Sendable {
    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Writes an entry about a user.
    /// - Parameter cause: nil for what the connection says (``PostgresConfiguration/cause``).
    /// - Throws: ``PostgresError``.
    package func note(
        _ act: AuditedAct, to user: UserKey, by cause: AuditCause? = nil
    ) async throws(PostgresError) {
        try await note(act, app: user.app, subject: user.account.rawValue, cause)
    }

    /// Writes an entry about a process, which is no app's.
    /// - Parameter cause: nil for what the connection says (``PostgresConfiguration/cause``).
    /// - Throws: ``PostgresError``.
    package func note(
        _ act: AuditedAct, toProcess process: String, by cause: AuditCause? = nil
    ) async throws(PostgresError) {
        try await note(act, app: nil, subject: process, cause)
    }

    private func note(
        _ act: AuditedAct, app: AppID?, subject: String, _ cause: AuditCause?
    ) async throws(PostgresError) {
        try await pool.query(
            "SELECT note_act($1, $2, $3, $4::jsonb, $5::jsonb)",
            [
                .text(act.word), .optional(app?.rawValue), .text(subject), .text(act.details.compactText),
                .optional(cause?.text),
            ], within: pool.configuration.actTimeout)
    }
}

extension PostgresTransaction {
    /// Says on whose behalf the rest of the transaction changes things.
    /// - Throws: ``PostgresError``.
    package func act(for cause: AuditCause) async throws(PostgresError) {
        try await query("SELECT set_config('heliograph.cause', $1, true)", [.text(cause.text)])
    }
}
