package import SignalingProtocol

/// Reports the sessions that a gateway lost the connections of a short time ago, after Redis did not answer or has lost
/// data: no gateway holds them. Those of users without a session are recorded again as detached.
///
/// A command of its own, because a process that takes a ``ReassertSessions`` attaches all of its sessions.
package struct ReassertDetachedSessions: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "session.reassert_detached"
    package static var level: Int64 { 2 }
    /// True: it keeps sessions alive.
    package var isVital: Bool { true }
    /// The outcome for each session.
    package typealias Reply = DetachedSessionsReasserted
    /// The gateway at which the sessions lost their connections.
    package var gateway: GatewayID
    /// At most 250 sessions.
    package var sessions: [DetachedSession]

    /// The first session, as of a ``ReassertSessions``.
    package var subject: Subject { sessions.first.map { .user($0.held.line.user) } ?? .gateway(gateway) }

    package init(gateway: GatewayID, sessions: [DetachedSession]) {
        self.gateway = gateway
        self.sessions = sessions
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(gateway: try fields.field("gateway", \.gateway), sessions: try fields.list("sessions", \.sessions))
    }
}

/// A session that has lost its connection, as its last gateway knows it.
package struct DetachedSession: Equatable, Sendable, FieldRecord {
    /// What the gateway held last.
    package var held: HeldSession
    /// When the connection was lost: the session's `_conn_timeout` is counted from then.
    package var lostAt: RedisTime

    package init(_ held: HeldSession, lostAt: RedisTime) {
        self.held = held
        self.lostAt = lostAt
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.held), lostAt: try fields.field("lost", \.lostAt))
    }
}

/// The outcome of a ``ReassertDetachedSessions``. A session that is in neither list is still recorded as attached to
/// the gateway, because its detach is yet to be told.
package struct DetachedSessionsReasserted: Equatable, Sendable, FieldRecord {
    /// The sessions that are recorded as detached from the gateway now. Those in channels
    /// must be reasserted as members.
    package var detached: [SessionID]
    /// The sessions that have ended, are elsewhere, or whose users have other sessions. The gateway forgets them.
    package var gone: [SessionID]

    package init(detached: [SessionID], gone: [SessionID]) {
        self.detached = detached
        self.gone = gone
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            detached: try fields.repeated("detached", \.detached), gone: try fields.repeated("gone", \.gone))
    }
}
