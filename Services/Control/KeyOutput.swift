internal import SignalingWire

/// A key of the server API as commands print it: as the API's lists show it.
extension Record {
    /// - Parameter key: its record; with the member `key`, the whole key, when it has just been made.
    init(key: JSONValue) { self.init(json: key, line: Self.line(of: key)) }

    private static func line(of key: JSONValue) -> String {
        var scopes: [String] = []
        if case .array(let words)? = key["scopes"] { scopes = words.compactMap { $0.string?.visible } }
        let note = key.visible("note")
        let fields: [String?] = [
            key.visible("id"), key.visible("app").map { "app \($0)" } ?? "cluster", scopes.joined(separator: ","),
            key.number("requestsPerSecond").map { "\($0) requests/s" }, key.time("createdAt").map { "created \($0)" },
            key.time("expiresAt").map { "ends \($0)" }, key.time("revokedAt").map { "revoked \($0)" },
            note?.isEmpty == false ? note : nil, key.visible("key").map { "key \($0)" },
        ]
        return fields.compactMap(\.self).joined(separator: "  ")
    }
}
