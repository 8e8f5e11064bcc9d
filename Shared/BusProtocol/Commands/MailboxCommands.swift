package import SignalingProtocol

/// Asks that the audit trail gets an entry about an act on a user's mailbox, which a gateway is about to carry out for
/// a request of the server API.
package struct NoteMailboxAct: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.mailbox.note"
    package static let level: Int64 = 2
    package typealias Reply = Done
    package var user: UserKey
    /// The version of the message that is to be deleted; nil when all are.
    package var version: Int64?

    package var subject: Subject { .user(user) }

    package init(user: UserKey, version: Int64? = nil) {
        self.user = user
        self.version = version
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), version: try fields.optional("version", \.version))
    }
}
