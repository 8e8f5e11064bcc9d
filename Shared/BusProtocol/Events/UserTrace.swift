package import SignalingProtocol

/// Orders a gateway to tell, for a time, what happens on a user's connections (`heliographctl trace`).
///
/// Whoever orders it repeats the order before the time is over, so that gateways stop by themselves when nobody listens
/// any more, and those that start meanwhile begin.
package struct TraceOrder: Equatable, Sendable {
    /// For how long at most, in seconds.
    package static let longest = 60
    /// Bytes of an id, which has no spaces.
    package static let idBytes = 32

    /// Names the topic on which gateways tell it.
    package var id: String
    /// For how long.
    package var seconds: Int
    package var user: UserKey

    package init(id: String, seconds: Int, user: UserKey) {
        self.id = id
        self.seconds = seconds
        self.user = user
    }

    init(from fields: inout TextFields) throws(SignalingError) {
        id = try fields.next()
        seconds = try fields.number(Int.self)
        user = UserKey(app: try AppID(try fields.next()), account: try Account(try fields.remainderText()))
        guard id.utf8.count <= Self.idBytes, (1...Self.longest).contains(seconds) else { throw fields.bad() }
    }

    var line: String { "\(id) \(seconds) \(user.app) \(user.account)" }
}

/// One thing that has happened on a user's connection.
package struct TraceEntry: Equatable, Sendable {
    /// When, in milliseconds of Unix time by the gateway's clock.
    package var time: Int64
    package var gateway: GatewayID
    /// What has happened, for people: without tokens, lines and texts of messages.
    package var text: String

    package init(time: Int64, gateway: GatewayID, text: String) {
        self.time = time
        self.gateway = gateway
        self.text = text
    }

    /// Parses a publication on a trace's topic.
    /// - Throws: `SignalingError` (1001, `bad_event`).
    package init(payload: some Collection<UInt8>) throws(SignalingError) {
        self = try TextFields.read(String(decoding: payload, as: UTF8.self), what: "an entry of a trace") {
            fields throws(SignalingError) in
            TraceEntry(
                time: try fields.number(Int64.self), gateway: GatewayID(try fields.next()),
                text: try fields.remainderText())
        }
    }

    /// The bytes to publish.
    package var payload: [UInt8] { Array("\(time) \(gateway) \(text)".utf8) }
}
