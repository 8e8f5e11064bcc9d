package import SignalingProtocol

/// Asks for a key of the server API by its public id, which gateways cache for a few seconds. Fails with `unknown_key`
/// when there is none, or when it is revoked or has expired.
package struct GetAPIKey: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "api-key.get"
    package static let level: Int64 = 2
    package typealias Reply = APIKey
    /// The key's id, ``APIKey/idDigits`` lower-case hexadecimal digits.
    package var id: String

    package var subject: Subject { .tagged(id) }

    package init(id: String) { self.id = id }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(id: try fields.field("key", \.id))
    }
}

/// Stores a new key of the server API, whose secret only the gateway knows that made it. Fails with `unknown_app` and
/// `too_many_keys`.
package struct CreateAPIKey: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "api-key.create"
    package static let level: Int64 = 2
    /// The key as lists show it.
    package typealias Reply = APIKeyCreated
    package var key: APIKey
    /// What it is for; may be empty.
    package var note: String

    package var subject: Subject { .tagged(key.id) }

    package init(_ key: APIKey, note: String) {
        self.key = key
        self.note = note
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.key), note: try fields.field("note", \.note))
    }
}

/// A key was stored.
package struct APIKeyCreated: Equatable, Sendable, FieldRecord {
    /// Its record in a list of ``ListRecords/List/keys``, a JSON object.
    package var record: String

    package init(record: String) { self.record = record }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(record: try fields.field("record", \.record))
    }
}

/// Ends a key of the server API; one that was revoked before stays so. Fails with `unknown_key`.
package struct RevokeAPIKey: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "api-key.revoke"
    package static let level: Int64 = 2
    package typealias Reply = Done
    /// The key's id, ``APIKey/idDigits`` lower-case hexadecimal digits.
    package var id: String

    package var subject: Subject { .tagged(id) }

    package init(id: String) { self.id = id }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(id: try fields.field("key", \.id))
    }
}

/// A key of the server API, as gateways check it. The secret itself is stored nowhere.
package struct APIKey: Equatable, Sendable, FieldRecord {
    /// The hexadecimal digits of an id.
    package static let idDigits = 16
    /// Keys of all apps that are neither revoked nor expired, at most.
    package static let bound = 10_000
    /// The range of ``requestsPerSecond``.
    package static let rates = 1...1_000_000
    /// The range of a key's life, in seconds: up to a hundred years.
    package static let seconds = 1...3_153_600_000
    /// Bytes of the note about a key.
    package static let noteBytes = 0...200

    /// The public part, by which the key is listed and revoked.
    package var id: String
    /// The SHA-256 of the secret part, in lower-case hexadecimal.
    package var digest: String
    /// The only app that the key may use; nil for a cluster key, which may use all.
    package var app: AppID?
    /// What the key may do.
    package var scopes: APIScopes
    /// Requests that the key may make per second at each gateway process. Each message of a batch counts as one.
    package var requestsPerSecond: Int
    /// When it ends, in Unix seconds; nil when it does not.
    package var expiry: Int64?

    package init(
        id: String, digest: String, app: AppID?, scopes: APIScopes, requestsPerSecond: Int, expiry: Int64? = nil
    ) {
        self.id = id
        self.digest = digest
        self.app = app
        self.scopes = scopes
        self.requestsPerSecond = requestsPerSecond
        self.expiry = expiry
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            id: try fields.field("key", \.id),
            digest: try fields.field("digest", \.digest),
            app: try fields.optional("app", \.app),
            scopes: try fields.field("scopes", \.scopes),
            requestsPerSecond: try fields.field("rate", \.requestsPerSecond),
            expiry: try fields.optional("expiry", \.expiry))
    }
}

/// What a request of the server API needs its key to be allowed.
package enum APIScope: String, Sendable, CaseIterable {
    /// Queries.
    case read
    /// Messages.
    case send
    /// Changes: attributes, disconnects, bans, tokens.
    case admin
}

/// A set of scopes.
package struct APIScopes: Equatable, Sendable, FieldValue {
    private let scopes: Set<APIScope>

    package init(_ scopes: some Sequence<APIScope>) { self.scopes = Set(scopes) }

    /// Reads ``text``; words that only a newer release knows are ignored.
    package init(text: String) {
        self.init(text.split(separator: " ").compactMap { APIScope(rawValue: String($0)) })
    }

    /// The scopes as words with a space between them, in the order of ``APIScope``.
    package var text: String { words.joined(separator: " ") }

    /// The scopes' words, in the order of ``APIScope``.
    package var words: [String] { APIScope.allCases.filter(scopes.contains).map(\.rawValue) }

    package func contains(_ scope: APIScope) -> Bool { scopes.contains(scope) }

    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(text: try reader.string(name))
    }
}
