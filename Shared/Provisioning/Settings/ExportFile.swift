internal import BusProtocol
internal import PostgresStore
package import SignalingProtocol
package import SignalingWire

/// A file of what is set up in a cluster, as ``DesiredState`` reads it, without any secret.
package enum ExportFile {
    /// Writes the apps, sorted by id.
    /// - Parameter app: only this one; nil for all.
    /// - Returns: the lines of the file.
    package static func text(_ state: ActualState, app: AppID? = nil) -> String {
        layout(json(state, app: app), indent: "") + "\n"
    }

    /// The same as a JSON object.
    package static func json(_ state: ActualState, app: AppID? = nil) -> JSONValue {
        let apps = state.apps.values.filter { app == nil || $0.record.id == app }
            .sorted { $0.record.id.rawValue < $1.record.id.rawValue }
        var numbers: [AppID: [JSONMember]] = [:]
        for (number, user) in state.numbers.sorted(by: { $0.key < $1.key }) {
            numbers[user.app, default: []].append(JSONMember(number, user.account.rawValue))
        }
        let members = apps.map { app in
            JSONMember(app.record.id.rawValue, json(app, numbers: numbers[app.record.id] ?? []))
        }
        return .object([
            JSONMember("version", DesiredState.version), JSONMember("apps", .object(members)),
        ])
    }

    private static func json(_ app: ActualApp, numbers: [JSONMember]) -> JSONValue {
        var members = [
            JSONMember("tokenRequired", app.record.tokenRequired),
            JSONMember("limits", .object(app.record.limits.members)),
        ]
        var webhooks = app.webhooks
        if let webhook = webhooks.removeValue(forKey: .standard) {
            members.append(JSONMember("webhook", .object(webhook.members)))
        }
        if !webhooks.isEmpty {
            let named = webhooks.sorted { $0.key < $1.key }
            members.append(
                JSONMember("webhooks", .object(named.map { JSONMember($0.key.rawValue, .object($0.value.members)) })))
        }
        if let hook = app.hook { members.append(JSONMember("hook", .object(hook.members))) }
        if let trunk = app.trunk { members.append(JSONMember("trunk", .object(trunk.members))) }
        if !numbers.isEmpty { members.append(JSONMember("numbers", .object(numbers))) }
        return .object(members)
    }

    /// JSON with a line for each member of an object, which differences of files are read by.
    private static func layout(_ value: JSONValue, indent: String) -> String {
        guard case .object(let members) = value, !members.isEmpty else { return value.compactText }
        let inner = indent + "  "
        let lines = members.map { member in
            "\(inner)\(JSONValue.string(member.name).compactText): \(layout(member.value, indent: inner))"
        }
        return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
    }
}
