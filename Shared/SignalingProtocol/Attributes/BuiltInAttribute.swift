/// Attributes that the system reads or keeps. Source: Signaling API, "Built-in attributes".
package enum BuiltInAttribute {
    /// Of a user: seconds without a connection after which they count as offline.
    package static let connectionTimeout = "_conn_timeout"

    /// Of a channel.
    package enum Channel: String, Sendable, CaseIterable {
        /// 1: joins and leaves are announced (default); 0: they are not.
        case userNotification = "_userNotification"
        /// Seconds from the last member's leaving to the end of the channel and its attributes, 0: at once; default
        /// 7200.
        case timeToLive = "_channel_ttl"
        /// Number of members; kept by the system.
        case memberNumber = "_member_num"
        /// 0 off (default); n: announce `_member_num` at most every n seconds.
        case autoUpdateNumber = "_auto_update_num"
        /// How many joins the channel has seen; kept by the system.
        case totalMemberNumber = "_total_member_num"
        /// 0 off (default); n: announce `_total_member_num` at most every n seconds, if `_auto_update_num` is on too.
        case autoUpdateTotal = "_auto_update_total_num"
        /// Messages per second of the whole channel; default 200.
        case sendLimit = "_sendmsg_limit"
        /// Changes per second of each attribute; default none.
        case attributeLimit = "_setattr_limit"

        /// Whether only the system may change it.
        package var isReadOnly: Bool {
            switch self {
            case .memberNumber, .totalMemberNumber: true
            case .userNotification, .timeToLive, .autoUpdateNumber, .autoUpdateTotal, .sendLimit, .attributeLimit: false
            }
        }
    }
}
