/// A number of a channel that the system keeps, and tells the members when it has changed.
///
/// The raw value is the counter's name in Redis and the start of its timer's.
package enum ChannelCounter: String, Sendable, CaseIterable {
    /// `_member_num`, told at the interval `_auto_update_num`.
    case members = "num"
    /// `_total_member_num`, told at the interval `_auto_update_total_num`, if `_auto_update_num` is on too.
    case total
}
