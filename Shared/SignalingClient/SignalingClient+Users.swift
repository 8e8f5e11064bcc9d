internal import SignalingProtocol
package import SignalingWire

/// Users: status, attributes, messages. Source: `Docs/protocol.md`, "Functions".
extension SignalingClient {
    /// Returns whether a user is online. A user whose connection was lost stays online for `_conn_timeout`.
    /// - Throws: `SignalingError`: 209 for an invalid account, 1001, 1003.
    public func isOnline(_ account: String) async throws(SignalingError) -> Bool {
        let answer = try await call("user_query_user_status", [JSONMember("account", account)])
        return answer["status"]?.isTrue ?? false
    }

    /// Sends a message to a user, who receives it once and in order. A user who is offline receives it at the next
    /// login within `timeToLive`.
    /// - Parameters:
    ///   - text: at most 8192 bytes.
    ///   - account: the receiver.
    ///   - messageID: at most 64 bytes, different for each message. A message that is sent again with the same id
    ///     within a minute is delivered once. Default: random.
    ///   - timeToLive: how long the message waits for its receiver, in whole seconds from 1
    ///     s to 30 days; default 30 days.
    /// - Throws: `SignalingError`: 209 for an invalid account, 400 (`rate_limited`, `mailbox_full`...), 401 when no
    ///   answer came in time, 1003, 1005 for a text that is too long.
    public func sendMessage(
        _ text: String, to account: String, messageID: String? = nil, timeToLive: ClientDuration = .seconds(2_592_000)
    ) async throws(SignalingError) {
        _ = try await call(
            "user_sendmsg", Self.instantMessage(text, to: account, id: messageID ?? Self.makeMessageID(), timeToLive))
    }

    /// Sets an attribute of this user.
    /// - Parameters:
    ///   - name: 1 to 128 bytes; names with a leading underscore are reserved for attributes that the system reads,
    ///     such as `_conn_timeout`.
    ///   - value: at most 8096 bytes.
    /// - Throws: `SignalingError`: 1001 (`rate_limited`...), 1003, 1004, 1005 for a value that is too long.
    public func setAttribute(_ name: String, _ value: String) async throws(SignalingError) {
        _ = try await call("user_set_attr", [JSONMember("name", name), JSONMember("value", value)])
    }

    /// Returns an attribute of a user; empty when it is not set.
    /// - Throws: `SignalingError`: 209 for an invalid account, 1001, 1003, 1004.
    public func attribute(_ name: String, of account: String) async throws(SignalingError) -> String {
        let answer = try await call(
            "user_get_attr", [JSONMember("account", account), JSONMember("name", name)])
        return answer["value"]?.textOrCompact ?? ""
    }

    /// Returns all attributes of a user, values by name.
    /// - Throws: `SignalingError`: 209 for an invalid account, 1001, 1003.
    public func attributes(of account: String) async throws(SignalingError) -> [String: String] {
        let answer = try await call("user_get_attr_all", [JSONMember("account", account)])
        return (try JSONValue.parse((answer["json"]?.string ?? "{}").utf8)).texts
    }

    // MARK: - Arguments

    /// The arguments of `user_sendmsg`.
    package static func instantMessage(
        _ text: String, to account: String, id: String, _ timeToLive: ClientDuration = .seconds(2_592_000)
    ) -> [JSONMember] {
        [
            JSONMember("peer", account),
            JSONMember("flag", "v1:E:\(max(timeToLive.milliseconds / 1000, 1))"),
            JSONMember("t", "instant"), JSONMember("content", text),
            JSONMember("messageID", id),
        ]
    }

    /// An id that no other message has.
    package static func makeMessageID() -> String { SecureRandom.hex(bytes: 12) }
}

extension JSONValue {
    /// The members of an object as text; empty for other values.
    package var texts: [String: String] {
        guard case .object(let members) = self else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value.textOrCompact) }, uniquingKeysWith: { $1 })
    }
}
