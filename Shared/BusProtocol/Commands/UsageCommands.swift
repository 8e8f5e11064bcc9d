package import SignalingProtocol

/// Reports what apps have used at a gateway. The numbers are those since the gateway's start, so that a repetition, and
/// a report that is handled late, change nothing.
package struct ReportUsage: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "usage.report"
    package static var level: Int64 { 2 }
    package typealias Reply = Done
    /// Records of one command at most.
    package static let bound = 1000
    /// The gateway's shard, whose id is new at each start.
    package var gateway: GatewayID
    /// What was used, ``bound`` records at most.
    package var uses: [AppUse]

    package var subject: Subject { .gateway(gateway) }
    /// It is about PostgreSQL only, and a repetition changes nothing.
    package static var goesToAnyPartition: Bool { true }

    package init(gateway: GatewayID, uses: [AppUse]) {
        self.gateway = gateway
        self.uses = uses
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(gateway: try fields.field("gateway", \.gateway), uses: try fields.list("uses", \.uses))
    }
}

/// What an app has used on a day at one gateway.
package struct AppUse: Hashable, Sendable, FieldRecord {
    /// The app.
    package var app: AppID
    /// The day (UTC), in days since 1970-01-01.
    package var day: Int64
    /// Messages of users and of the app's servers that were sent there, to users and to channels.
    package var messages: Int64
    /// Channel messages that were written to members there: one for each member.
    package var deliveries: Int64

    package init(_ app: AppID, day: Int64, messages: Int64 = 0, deliveries: Int64 = 0) {
        self.app = app
        self.day = day
        self.messages = messages
        self.deliveries = deliveries
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.field("app", \.app), day: try fields.field("day", \.day),
            messages: try fields.field("messages", \.messages),
            deliveries: try fields.field("deliveries", \.deliveries))
    }
}
