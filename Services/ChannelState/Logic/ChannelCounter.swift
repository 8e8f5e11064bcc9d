/// A counter of a channel, which the system maintains and announces to the members when it has changed.
///
/// The raw value is the counter's name in Redis, and the first part of its timer's name.
package enum ChannelCounter: String, Sendable, CaseIterable {
    /// `_member_num`, announced at the interval `_auto_update_num`.
    case members = "num"
    /// `_total_member_num`, announced at the interval `_auto_update_total_num`, if `_auto_update_num` is on too.
    case total
}
