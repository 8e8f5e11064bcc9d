internal import SignalingProtocol
package import SignalingWire

/// A user's session, as its record in Redis has it; the head of `presence.lua` describes that.
package struct UserPresence: Equatable, Sendable {
    /// As the list of users names them.
    package enum State: String, Sendable {
        /// A gateway holds the client's connection.
        case connected
        /// The connection is lost, and the client may still resume the session.
        case detached
        /// There is no session.
        case offline
    }

    /// The record's fields that are read, in the order in which ``init(_:)`` takes them.
    package static let fields = ["state", "uid", "gateway", "since", "channel", "address"]

    package let state: State
    /// The account's number; nil without a session, as all that follows.
    package let uid: Int64?
    /// The gateway that holds the connection; nil without one.
    package let gateway: String?
    /// When the session began, in Unix seconds.
    package let since: Int64?
    /// The channel that the session is in, if it is in one.
    package let channel: String?
    /// The IP address that the client connects from, or did before its connection was lost; nil where the gateway does
    /// not tell it.
    package let address: String?

    /// - Parameter values: those of ``fields``; nil for a field that the record does not have.
    /// - Returns: nil when that is no record of a session.
    package init?(_ values: [String?]) {
        guard values.count == Self.fields.count else { return nil }
        guard let word = values[0] else {
            (state, uid, gateway, since, channel, address) = (.offline, nil, nil, nil, nil, nil)
            return
        }
        guard let uid = values[1].flatMap({ Int64($0) }), let began = values[3].flatMap({ Int64($0) }) else {
            return nil
        }
        state = word == "detached" ? .detached : .connected
        self.uid = uid
        gateway = state == .connected ? values[2] : nil
        since = began / 1000
        channel = values[4]
        address = values[5].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What is answered of each of many users.
    package var summary: [JSONMember] {
        [JSONMember("state", state.rawValue), JSONMember("uid", uid), JSONMember("since", since)]
    }

    /// What is answered of one user.
    /// - Parameter withAddress: whether who asks may see where the client connects from.
    package func details(withAddress: Bool) -> [JSONMember] {
        [JSONMember("online", state != .offline)] + summary + [
            JSONMember("gateway", gateway),
            JSONMember("channels", .array(channel.map { [.string($0)] } ?? [])),
        ] + (withAddress ? [JSONMember("address", address)] : [])
    }
}
