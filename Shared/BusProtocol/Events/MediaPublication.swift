package import SignalingProtocol

/// An event in a media channel, for those participants of it that one gateway has.
package struct MediaPublication: Equatable, Sendable {
    /// Whom it concerns.
    package var participants: [ParticipantID]
    /// Whether they are over with this event.
    package var isLast: Bool
    package var channel: MediaChannelName
    package var event: MediaEvent

    package init(participants: [ParticipantID], isLast: Bool = false, channel: MediaChannelName, event: MediaEvent) {
        self.participants = participants
        self.isLast = isLast
        self.channel = channel
        self.event = event
    }
}

/// `LAST COUNT PID... EVENT FIELDS... CHANNEL`: whether the participants are over (0 or 1), how many they are, their
/// ids, the event's name and fields, and the channel's name, which may contain spaces.
extension MediaPublication {
    init(from fields: inout TextFields) throws(SignalingError) {
        let isLast = try fields.number(Int.self) == 1
        var participants: [ParticipantID] = []
        for _ in 0..<(try fields.count()) { participants.append(ParticipantID(try fields.next())) }
        let event = try MediaEvent(from: &fields)
        guard let channel = try? MediaChannelName(try fields.remainderText()) else { throw fields.bad() }
        self.init(participants: participants, isLast: isLast, channel: channel, event: event)
    }

    var line: String {
        let head = [isLast ? "1" : "0", String(participants.count)] + participants.map(\.rawValue)
        return (head + event.fields + [channel.rawValue]).joined(separator: " ")
    }
}

extension MediaEvent {
    fileprivate init(from fields: inout TextFields) throws(SignalingError) {
        switch try fields.next() {
        case "joined":
            self = .joined(
                uid: try fields.number(), flags: MediaFlags(rawValue: try fields.number()), n: try fields.number())
        case "left":
            let uid = try fields.number(UInt32.self)
            guard let reason = MediaLeaveReason(rawValue: try fields.next()) else { throw fields.bad() }
            self = .left(uid: uid, reason: reason, n: try fields.number())
        case "state":
            self = .state(
                uid: try fields.number(), flags: MediaFlags(rawValue: try fields.number()), n: try fields.number())
        case "stats":
            var uplinks: [MediaUplink] = []
            for _ in 0..<(try fields.count()) {
                uplinks.append(
                    MediaUplink(uid: try fields.number(), delay: try fields.number(), loss: try fields.number()))
            }
            self = .stats(uplinks, n: try fields.number())
        case "key": self = .key
        case "gone":
            guard let reason = MediaEndReason(rawValue: try fields.next()) else { throw fields.bad() }
            self = .gone(reason)
        default: throw fields.bad()
        }
    }

    fileprivate var fields: [String] {
        switch self {
        case .joined(let uid, let flags, let n): ["joined", String(uid), String(flags.rawValue), String(n)]
        case .left(let uid, let reason, let n): ["left", String(uid), reason.rawValue, String(n)]
        case .state(let uid, let flags, let n): ["state", String(uid), String(flags.rawValue), String(n)]
        case .stats(let uplinks, let n):
            ["stats", String(uplinks.count)]
                + uplinks.flatMap { [String($0.uid), String($0.delay), String($0.loss)] } + [String(n)]
        case .key: ["key"]
        case .gone(let reason): ["gone", reason.rawValue]
        }
    }
}

extension TextFields {
    /// The number of fields that follow; a line that names too many ends before them.
    fileprivate mutating func count() throws(SignalingError) -> Int {
        let count = try number(Int.self)
        guard count >= 0 else { throw bad() }
        return count
    }
}
