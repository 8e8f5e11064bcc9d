package import SignalingProtocol
internal import SignalingWire

/// What was published to a channel's topic, or kept in its log.
package enum ChannelPublication: Equatable, Sendable {
    /// An event.
    case event(ChannelEvent)
    /// An event of a kind that only a newer release knows. It counts as seen and is not shown.
    case unknown(at: ChannelPosition)
}

extension ChannelPublication {
    /// Parses a publication or a log entry.
    /// - Throws: `SignalingError` (1001, `bad_event`) when it is malformed.
    package init(payload: some Collection<UInt8>) throws(SignalingError) {
        self = try payload.withBytes { Self.decode($0) }.get()
    }

    /// Parses a contiguous payload. Not generic, for the reason given at ``GatewayEvent/decode(_:)``.
    package static func decode(_ payload: UnsafeBufferPointer<UInt8>) -> Result<ChannelPublication, SignalingError> {
        Result { () throws(SignalingError) in
            var fields = TextFields(payload, what: "a channel event")
            return try read(&fields)
        }
    }

    private static func read(_ fields: inout TextFields) throws(SignalingError) -> ChannelPublication {
        let sequence = try fields.number(Int64.self)
        let id = try fields.number(Int64.self)
        let account = try Account(fields.next())
        let uid = try fields.number(UInt32.self)
        let kind: ChannelEvent.Kind
        switch try fields.next() {
        case "msg": kind = .message(try fields.remainderText())
        case "join": kind = .joined
        case "leave": kind = .left
        case "attr": kind = .attributes(try change(&fields))
        default: return .unknown(at: ChannelPosition(sequence: sequence, id: id))
        }
        return .event(ChannelEvent(sequence: sequence, id: id, account: account, uid: uid, kind: kind))
    }

    private static func change(_ fields: inout TextFields) throws(SignalingError) -> AttributeChange {
        switch try fields.next() {
        case "update":
            let name = try AttributeName(fields.take(fields.number(Int.self)))
            return .update(Attribute(name: name, value: try fields.remainderText()))
        case "del": return .delete(try AttributeName(fields.take(fields.number(Int.self))))
        case "clear": return .clear
        default: throw fields.bad()
        }
    }
}

extension ChannelEvent {
    /// Parses a publication or a log entry: `SEQ ID ACCOUNT UID KIND ...`.
    /// - Throws: `SignalingError` (1001, `bad_event`), also for a kind that this release does not know.
    package init(payload: some Collection<UInt8>) throws(SignalingError) {
        guard case .event(let event) = try ChannelPublication(payload: payload) else {
            throw SignalingError(.failed, .badEvent, "a channel event has an unknown kind")
        }
        self = event
    }

    /// The text that is published to the channel's topic and kept in its log.
    package var payload: String {
        let head = "\(sequence) \(id) \(account) \(uid)"
        switch kind {
        case .message(let body): return "\(head) msg \(body)"
        case .joined: return "\(head) join"
        case .left: return "\(head) leave"
        case .attributes(.update(let attribute)):
            let name = attribute.name.rawValue
            return "\(head) attr update \(name.utf8.count) \(name) \(attribute.value)"
        case .attributes(.delete(let name)): return "\(head) attr del \(name.rawValue.utf8.count) \(name)"
        case .attributes(.clear): return "\(head) attr clear"
        }
    }
}
