/// Attributes that the system reads or maintains. Source: Signaling API, "Built-in attributes".
package enum BuiltInAttribute {
    /// Of a user: the number of seconds without a connection after which the user counts as offline.
    package static let connectionTimeout = "_conn_timeout"

    /// Attributes of a channel.
    package enum Channel: String, Sendable, CaseIterable {
        /// 1: joins and leaves are announced (default); 0: they are not.
        case userNotification = "_userNotification"
        /// Seconds from the leave of the last member to the end of the channel and its attributes, 0: at once; default
        /// 7200.
        case timeToLive = "_channel_ttl"
        /// The number of members; set by the system.
        case memberNumber = "_member_num"
        /// 0: off (default); n: `_member_num` is announced at most every n seconds.
        case autoUpdateNumber = "_auto_update_num"
        /// The number of joins so far; set by the system.
        case totalMemberNumber = "_total_member_num"
        /// 0: off (default); n: `_total_member_num` is announced at most every n seconds,
        /// if `_auto_update_num` is on too.
        case autoUpdateTotal = "_auto_update_total_num"
        /// The largest number of messages per second in the channel; default 200.
        case sendLimit = "_sendmsg_limit"
        /// The largest number of changes per second of each attribute; by default there is none.
        case attributeLimit = "_setattr_limit"

        /// Whether only the system may set it.
        package var isReadOnly: Bool {
            switch self {
            case .memberNumber, .totalMemberNumber: true
            case .userNotification, .timeToLive, .autoUpdateNumber, .autoUpdateTotal, .sendLimit, .attributeLimit: false
            }
        }
    }
}
