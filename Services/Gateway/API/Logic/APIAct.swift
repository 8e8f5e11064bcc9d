package import SignalingProtocol

/// A request of the server API whose arguments are all within their bounds.
package enum APIAct: Equatable, Sendable {
    /// Has one answer.
    case once(Once)
    /// Has answers without end: the events after a position; nil for those from now on.
    case follow(AppID, kinds: Set<EventKind>, after: EventPosition?)

    /// The acts are grouped as their operations are: each group has a file of rows and checks in `Operations`, and one
    /// of the performer.
    package enum Once: Equatable, Sendable {
        case cluster(Cluster)
        case lists(Lists)
        case messages(Messages)
        case calls(Calls)
        case users(Users)
        case attributes(Attributes)
        case channels(Channels)
        case moderation(Moderation)
        case addressBans(AddressBans)
        case mailbox(Mailbox)
        case settings(Settings)
        case keys(Keys)

        /// How many requests of the key's rate it counts as.
        package var cost: Int {
            switch self {
            case .messages(.sendAll(let messages)): messages.count
            case .users(.presence(let users)):
                (users.count + APIAct.presenceOfRequest - 1) / APIAct.presenceOfRequest
            case .cluster, .lists, .messages, .calls, .users, .attributes, .channels, .moderation, .addressBans,
                .mailbox, .settings, .keys:
                1
            }
        }
    }

    static func cluster(_ act: Cluster) -> APIAct { .once(.cluster(act)) }
    static func lists(_ act: Lists) -> APIAct { .once(.lists(act)) }
    static func messages(_ act: Messages) -> APIAct { .once(.messages(act)) }
    static func calls(_ act: Calls) -> APIAct { .once(.calls(act)) }
    static func users(_ act: Users) -> APIAct { .once(.users(act)) }
    static func attributes(_ act: Attributes) -> APIAct { .once(.attributes(act)) }
    static func channels(_ act: Channels) -> APIAct { .once(.channels(act)) }
    static func moderation(_ act: Moderation) -> APIAct { .once(.moderation(act)) }
    static func addressBans(_ act: AddressBans) -> APIAct { .once(.addressBans(act)) }
    static func mailbox(_ act: Mailbox) -> APIAct { .once(.mailbox(act)) }
    static func settings(_ act: Settings) -> APIAct { .once(.settings(act)) }
    static func keys(_ act: Keys) -> APIAct { .once(.keys(act)) }

    /// Bytes of a page's position, and of what names begin with.
    package static let positionBytes = 0...1024
    package static let prefixBytes = 0...128
    /// Records of a page.
    package static let pageRecords = 1...1000
}
