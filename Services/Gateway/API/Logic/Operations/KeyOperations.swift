package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// Keys of the server API itself.
extension APIOperation {
    static let keys: [APIOperation] = [
        APIOperation(
            "listKeys", "GET /v1/keys", .clusterKey(.read), .query(["app", "limit", "after"]),
            act: APIArguments.listKeys),
        // Not with an idempotency key: Redis would keep the answer, which has the secret.
        APIOperation(
            "createKey", "POST /v1/keys", .clusterKey(.admin), .body(changes: false), act: APIArguments.createKey),
        APIOperation("revokeKey", "DELETE /v1/keys/{key}", .clusterKey(.admin), act: APIArguments.revokeKey),
    ]
}

extension APIAct {
    package enum Keys: Equatable, Sendable {
        case create(NewAPIKey)
        /// The key with this id.
        case revoke(String)
    }
}

/// What a key that is to be made may do.
package struct NewAPIKey: Equatable, Sendable {
    /// The only app that it may use; nil for a key of the cluster.
    package var app: AppID?
    package var scopes: APIScopes
    /// See ``BusProtocol/APIKey/requestsPerSecond``.
    package var requestsPerSecond: Int
    /// Seconds until it ends; nil when it does not.
    package var seconds: Int?
    /// What it is for; may be empty.
    package var note: String

    package init(app: AppID?, scopes: APIScopes, requestsPerSecond: Int, seconds: Int?, note: String) {
        self.app = app
        self.scopes = scopes
        self.requestsPerSecond = requestsPerSecond
        self.seconds = seconds
        self.note = note
    }
}

extension APIArguments {
    /// A key of an app that has been removed is gone with it, so that the app need not exist.
    fileprivate func listKeys() throws(APIProblem) -> APIAct {
        .lists(.page(try page(.keys, of: try queriedApp())))
    }

    fileprivate func createKey() throws(APIProblem) -> APIAct {
        let fields = try fields("app", "cluster", "scopes", "requestsPerSecond", "ttl", "note")
        let note = fields.has("note") ? try fields.text("note", bytes: APIKey.noteBytes) : ""
        guard !note.utf8.contains(0) else { throw APIProblem.invalid("note", "without the NUL character") }
        return .keys(
            .create(
                NewAPIKey(
                    app: try Self.appOfKey(fields), scopes: try Self.scopes(fields),
                    requestsPerSecond: try fields.integer("requestsPerSecond", in: APIKey.rates, standard: 1000),
                    seconds: fields.has("ttl") ? try fields.integer("ttl", in: APIKey.seconds) : nil, note: note)))
    }

    /// A key for all apps is made only when that is said: an app that was forgotten must not make one.
    private static func appOfKey(_ fields: APIFields) throws(APIProblem) -> AppID? {
        guard fields.has("app") != fields.has("cluster") else {
            throw APIProblem.invalid(fields.has("cluster") ? "cluster" : "app", "given, or else cluster; not both")
        }
        guard fields.has("cluster") else {
            return try APINames.app(try fields.text("app", bytes: 1...Limits.appIDBytes))
        }
        guard fields["cluster"] == .bool(true) else { throw APIProblem.invalid("cluster", "true") }
        return nil
    }

    private static func scopes(_ fields: APIFields) throws(APIProblem) -> APIScopes {
        guard fields.has("scopes") else { return APIScopes([.read, .send]) }
        var scopes: [APIScope] = []
        for (index, value) in try fields.list("scopes", count: 1...APIScope.allCases.count).enumerated() {
            guard let scope = value.string.flatMap(APIScope.init), !scopes.contains(scope) else {
                throw APIProblem.invalid("scopes[\(index)]", "read, send or admin, each once")
            }
            scopes.append(scope)
        }
        return APIScopes(scopes)
    }

    fileprivate func revokeKey() throws(APIProblem) -> APIAct {
        let id = text("key")
        guard Hex.isLowerCase(id[...], digits: APIKey.idDigits) else {
            throw APIProblem.invalid("key", "\(APIKey.idDigits) hexadecimal digits in lower case")
        }
        return .keys(.revoke(id))
    }
}
