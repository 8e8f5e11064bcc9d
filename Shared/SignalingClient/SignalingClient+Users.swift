internal import SignalingProtocol
internal import SignalingWire

/// Users: status, attributes, messages. Source: wire protocol, section 4.
extension SignalingClient {
    /// Whether a user is online.
    /// - Throws: `SignalingError` (209 for what is no account).
    public func isOnline(_ account: String) async throws(SignalingError) -> Bool {
        let answer = try await call("user_query_user_status", [JSONMember("account", .string(account))])
        return answer["status"]?.isTrue ?? false
    }

    /// Sends a message to a user; an absent one gets it at the next login within `timeToLive`.
    /// - Parameters:
    ///   - messageID: unique for each message; a message that is sent twice under one id within a minute arrives once.
    ///     Default: made up.
    ///   - timeToLive: 1 s ... 30 days; default 30 days.
    /// - Throws: `SignalingError`: 400 (`rate_limited`, `mailbox_full`...), 401, 1005.
    public func sendMessage(
        _ text: String, to account: String, messageID: String? = nil, timeToLive: Duration = .seconds(2_592_000)
    ) async throws(SignalingError) {
        _ = try await call(
            "user_sendmsg", Self.instantMessage(text, to: account, id: messageID ?? Self.makeMessageID(), timeToLive))
    }

    /// Sets one of one's own attributes.
    /// - Throws: `SignalingError`: 1004, 1005.
    public func setAttribute(_ name: String, _ value: String) async throws(SignalingError) {
        _ = try await call("user_set_attr", [JSONMember("name", .string(name)), JSONMember("value", .string(value))])
    }

    /// A user's attribute; empty when it is not set.
    /// - Throws: `SignalingError`.
    public func attribute(_ name: String, of account: String) async throws(SignalingError) -> String {
        let answer = try await call(
            "user_get_attr", [JSONMember("account", .string(account)), JSONMember("name", .string(name))])
        return answer["value"]?.textOrCompact ?? ""
    }

    /// All of a user's attributes.
    /// - Throws: `SignalingError`.
    public func attributes(of account: String) async throws(SignalingError) -> [String: String] {
        let answer = try await call("user_get_attr_all", [JSONMember("account", .string(account))])
        return (try JSONValue.parse((answer["json"]?.string ?? "{}").utf8)).texts
    }

    // MARK: - Arguments

    static func instantMessage(
        _ text: String, to account: String, id: String, _ timeToLive: Duration = .seconds(2_592_000)
    ) -> [JSONMember] {
        [
            JSONMember("peer", .string(account)),
            JSONMember("flag", .string("v1:E:\(max(timeToLive.components.seconds, 1))")),
            JSONMember("t", .string("instant")), JSONMember("content", .string(text)),
            JSONMember("messageID", .string(id)),
        ]
    }

    static func makeMessageID() -> String { SecureRandom.hex(bytes: 12) }
}

extension JSONValue {
    /// An object's members as texts; empty for other values.
    var texts: [String: String] {
        guard case .object(let members) = self else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value.textOrCompact) }, uniquingKeysWith: { $1 })
    }
}
