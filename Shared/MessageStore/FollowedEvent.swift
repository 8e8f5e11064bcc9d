package import BusProtocol
package import ClusterState
package import RedisClient
package import SignalingProtocol

/// An event of a kind that the server API's streams tell and the special channels do not: see ``FollowedLog``.
package struct FollowedEvent: Equatable, Sendable {
    /// What has happened, with the time from which its id derives: the same at each repetition.
    package let event: WebhookEvent
    /// The log that keeps it.
    package let log: FollowedLog

    package init(_ event: WebhookEvent, in log: FollowedLog) {
        self.event = event
        self.log = log
    }

    /// The Redis command that puts the event into its log, for the caller to send in a pipeline. It does nothing when
    /// nobody follows the log, or the event is there already.
    package var publishing: RedisCommand {
        .function(
            "announcement_to_channel", tag: KeySpace.tag(log, of: event.app), .string(event.id), "system", 0, "", "",
            1, .int(limit), .string(event.streamed), "")
    }

    /// The rate from which on the log is kept as long as those of announcements. With texts it is no longer than that
    /// of a channel, because they are a hundred times as large.
    private var limit: Int {
        if case .message(let message) = event.subject, message.text != nil { return AppLimit.unlimited }
        return ServerAnnouncement.unlimited
    }

    /// The Redis command, for the caller's pipeline, that asks whether the server API follows a log; answered 0 when
    /// not. Read by ``ServerAnnouncement/mayBeHeard(_:)``.
    package static func audience(of log: FollowedLog, in app: AppID) -> RedisCommand {
        RedisCommand("EXISTS", key: ChannelKeys(log, of: app).followed)
    }
}
