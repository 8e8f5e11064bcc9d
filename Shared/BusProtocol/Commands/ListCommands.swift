package import SignalingProtocol

/// Asks for a page of a list, read from PostgreSQL for the server API. Its rows are at most as old as the mirrors.
package struct ListRecords: ServiceCommand {
    /// What is listed.
    package enum List: String, CaseIterable, Sendable, FieldValue {
        /// All apps.
        case apps
        /// Everybody who ever logged in.
        case users
        /// Users with a session.
        case online
        case channels
        /// The members of one channel, by account.
        case members
        /// Calls, newest first.
        case calls
        /// Calls that have not ended, newest first.
        case open
        /// Users who are banned.
        case bans
        /// The audit trail, newest first; of one app or of all.
        case audit
        /// One record: what the app has, and its logins of the last ``limit`` days.
        case usage
        /// The webhooks of all apps or of one, by name, and how their deliveries are going.
        case webhooks
        /// One record: the webhook of an app that has the standard name.
        case webhook
        /// The SIP trunks of all apps, or the one of an app, without their users and passwords.
        case trunks
        /// The before-hooks of all apps, or the one of an app, without their secrets.
        case hooks
        /// The keys of the server API, by id, revoked and expired ones too; of one app or of all.
        case keys
    }

    package static let service = ServiceName.presence
    package static let operation = "records.list"
    package static let level: Int64 = 2
    package typealias Reply = RecordPage
    package var list: List
    /// Whose records; nil for all apps.
    package var app: AppID?
    /// The channel of a list of members.
    package var channel: ChannelName?
    /// Only records whose name begins with this.
    package var prefix: String
    /// The ``RecordPage/next`` of the page before; empty for the first page.
    package var after: String
    /// Records of the page at most.
    package var limit: Int

    package var subject: Subject { app.map { .app($0) } ?? .tagged("apps") }

    package init(
        _ list: List, app: AppID? = nil, channel: ChannelName? = nil, prefix: String = "", after: String = "",
        limit: Int
    ) {
        self.list = list
        self.app = app
        self.channel = channel
        self.prefix = prefix
        self.after = after
        self.limit = limit
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.field("list", \.list),
            app: try fields.optional("app", \.app),
            channel: try fields.optional("channel", \.channel),
            prefix: try fields.field("prefix", \.prefix),
            after: try fields.field("after", \.after),
            limit: try fields.field("limit", \.limit))
    }
}

/// A page of a list.
package struct RecordPage: Equatable, Sendable, FieldRecord {
    /// The records as a JSON array, as the server API answers them.
    package var records: String
    /// Where the next page begins; nil after the last one.
    package var next: String?

    package init(records: String, next: String?) {
        self.records = records
        self.next = next
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(records: try fields.field("records", \.records), next: try fields.optional("next", \.next))
    }
}
