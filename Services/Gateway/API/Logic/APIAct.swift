package import SignalingProtocol

/// A request of the server API whose arguments are all within their bounds. The acts are grouped as their operations
/// are: each group has a file of rows and checks in `Operations`, and one of the performer.
package enum APIAct: Equatable, Sendable {
    case cluster(Cluster)
    case lists(Lists)
    /// Events after a position; nil for those from now on.
    case follow(AppID, kinds: Set<EventKind>, after: EventPosition?)
    case messages(Messages)
    case calls(Calls)
    case users(Users)
    case attributes(Attributes)
    case channels(Channels)

    /// Bytes of a page's position, and of what names begin with.
    package static let positionBytes = 0...1024
    package static let prefixBytes = 0...128
    /// Records of a page.
    package static let pageRecords = 1...1000

    /// How many requests of the key's rate it counts as.
    package var cost: Int {
        if case .messages(.sendAll(let messages)) = self { messages.count } else { 1 }
    }
}
