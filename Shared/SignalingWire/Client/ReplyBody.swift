package import SignalingProtocol

/// The content of a successful call's answer, apart from `result`. Source: `Docs/protocol.md`, "Functions".
package enum ReplyBody: Equatable, Sendable {
    /// Only `result`.
    case done
    /// `user_getmsg`.
    case mailbox(cleared: Int64, entries: [MailboxEntry])
    /// `user_query_user_status`.
    case userStatus(Account, online: Bool)
    /// `user_get_attr`.
    case attribute(Account, AttributeName, value: String)
    /// `user_get_attr_all`.
    case attributes(Account, [Attribute])
    /// `channel_join`.
    case joined(id: Int64, members: MemberListText, attributes: [Attribute])
    /// `channel_query_num`.
    case memberCount(ChannelName, Int)
    /// `channel_query_user_isin`.
    case membership(ChannelName, Account, isMember: Bool)
    /// `channel_query_userlist` and `_all`.
    case members(total: Int, [Member])

    /// The JSON of the reply. `ServerFrame` writes that of `done`, `mailbox`, `attributes` and
    /// `joined` itself, which is faster.
    var json: JSONValue {
        .object([JSONMember("result", "ok")] + fields)
    }

    private var fields: [JSONMember] {
        switch self {
        case .done: []
        case .mailbox(let cleared, let entries):
            [
                JSONMember("ver_clear", cleared),
                JSONMember(
                    "msgs", .array(entries.map { .array([.number(String($0.version)), .string($0.line)]) })),
            ]
        case .userStatus(let account, let online):
            [JSONMember("account", account.rawValue), JSONMember("status", Self.flag(online))]
        case .attribute(let account, let name, let value):
            [
                JSONMember("account", account.rawValue), JSONMember("name", name.rawValue),
                JSONMember("value", value),
            ]
        case .attributes(let account, let attributes):
            [
                JSONMember("account", account.rawValue),
                JSONMember("json", Self.object(attributes).compactText),
            ]
        case .joined(let id, let members, let attributes):
            [
                JSONMember("list", Self.list(members.latest.all)), JSONMember("attrs", Self.object(attributes)),
                JSONMember("id", id),
            ]
        case .memberCount(let channel, let count):
            [JSONMember("name", channel.rawValue), JSONMember("num", count)]
        case .membership(let channel, let account, let isMember):
            [
                JSONMember("name", channel.rawValue), JSONMember("account", account.rawValue),
                JSONMember("isin", Self.flag(isMember)),
            ]
        case .members(let total, let members):
            [JSONMember("num", total), JSONMember("list", Self.list(members))]
        }
    }

    /// A number, not a text: apps test it for truthiness, and a text "0" would count as true.
    private static func flag(_ value: Bool) -> JSONValue { .number(value ? "1" : "0") }

    private static func list(_ members: [Member]) -> JSONValue {
        .array(members.map { .array([.string($0.account.rawValue), .number(String($0.uid))]) })
    }

    private static func object(_ attributes: [Attribute]) -> JSONValue {
        .object(attributes.map { JSONMember($0.name.rawValue, $0.value) })
    }
}
