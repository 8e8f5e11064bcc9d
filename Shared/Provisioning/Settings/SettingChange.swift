package import SignalingProtocol
package import SignalingWire

/// One change, for people and scripts. It never has a secret.
package struct SettingChange: Equatable, Sendable {
    /// What changes.
    package enum Kind: String, Sendable {
        case app
        case limit
        case webhook
        case hook
        case trunk
        case number
    }

    /// The app.
    package var app: AppID
    /// What of it changes.
    package var kind: Kind
    /// The limit, setting or number; nil when the thing as a whole is added or removed.
    package var name: String?
    /// The value before, and after; nil for none. A secret's are nil both.
    package var before: JSONValue?
    package var after: JSONValue?
    /// What is done.
    package var action = Action.change

    /// What is done to a thing or to a setting of it.
    package enum Action: String, Sendable {
        case add
        case change
        case remove
    }

    /// The change as one line, such as `app a: limit messagesPerSecond 60 -> 100`.
    package var line: String {
        let subject = [kind == .app && name != nil ? nil : kind.rawValue, name].compactMap(\.self)
        let head = "app \(app): " + (kind == .app && name == nil ? "" : subject.joined(separator: " ") + " ")
        guard before != nil || after != nil else {
            switch action {
            case .add: return head + "added"
            case .change: return head + "replaced"
            case .remove: return head + "removed"
            }
        }
        return head + "\(Self.text(before)) -> \(Self.text(after))"
    }

    /// The members of its JSON object, sorted by name.
    package var members: [JSONMember] {
        [
            JSONMember("action", action.rawValue), JSONMember("after", after ?? .null),
            JSONMember("app", app.rawValue), JSONMember("before", before ?? .null),
            JSONMember("kind", kind.rawValue), JSONMember("name", name),
        ]
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: "none"
        case .array(let values): values.isEmpty ? "none" : values.map(\.textOrCompact).joined(separator: ",")
        case .some(let value): value.textOrCompact
        }
    }

    /// The changes from one thing's values to another's, in their order.
    /// - Parameter former: nil when the thing is new: then all values are told but those that are null.
    static func between(
        _ former: [JSONMember]?, and members: [JSONMember], of app: AppID, _ kind: Kind
    ) -> [SettingChange] {
        members.compactMap { member in
            let before = former?.first { $0.name == member.name }?.value ?? .null
            guard before != member.value else { return nil }
            return SettingChange(
                app: app, kind: kind, name: member.name, before: shown(before, member.name),
                after: shown(member.value, member.name))
        }
    }

    /// What follows the question mark of a URL may be a secret, as in the audit trail.
    private static func shown(_ value: JSONValue, _ name: String) -> JSONValue {
        guard name == "url", let text = value.string, let mark = text.firstIndex(of: "?") else { return value }
        return .string(text[..<mark] + "?...")
    }
}

extension [SettingChange] {
    /// The changes as JSON.
    package var json: JSONValue { .array(map { .object($0.members) }) }
}
