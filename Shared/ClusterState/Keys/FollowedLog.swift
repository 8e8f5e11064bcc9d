/// The logs of an app's events that only the server API reads, besides the special channels. Each is written only while
/// a stream of the server API follows it, and for an hour longer.
package enum FollowedLog: String, CaseIterable, Sendable {
    /// Channels that begin and end.
    case channels
    /// Calls and their states.
    case calls
    /// Messages, of apps that have them told.
    case messages
}
