internal import SignalingProtocol
internal import SignalingWire

/// The keys of an invitation's `extra` that the system reads. Source: Signaling API, "channelInviteUser2".
package struct InvitationOptions: Equatable, Sendable {
    /// Whether to fail at once when the callee is offline (`_require_peer_online` 1).
    package var requiresPeerOnline: Bool
    /// `_timeout`, clamped to ``Limits/invitationTimeout``; nil when not given.
    package var statedTimeout: Duration?
    /// Whether a number is to be shown to the telephone (`srcNum`, not empty).
    package var showsNumber: Bool

    /// Creates options.
    package init(requiresPeerOnline: Bool = false, statedTimeout: Duration? = nil, showsNumber: Bool = false) {
        self.requiresPeerOnline = requiresPeerOnline
        self.statedTimeout = statedTimeout
        self.showsNumber = showsNumber
    }

    /// Parses JSON text; text that is not a JSON object is only passed on to the callee and sets nothing.
    package init(extra: String) {
        self.init()
        guard let json = try? JSONValue.parse(Array(extra.utf8)), case .object = json else { return }
        if let required = json["_require_peer_online"] { requiresPeerOnline = Self.number(required) == 1 }
        if let seconds = json["_timeout"].flatMap(Self.number) {
            let range = Limits.invitationTimeout
            let milliseconds = min(max(seconds, Double(range.lowerBound)), Double(range.upperBound)) * 1000
            statedTimeout = .milliseconds(Int64(milliseconds))
        }
        switch json["srcNum"] {
        case .string(let text), .number(let text): showsNumber = !text.isEmpty
        case .null, .bool, .array, .object, nil: break
        }
    }

    /// How long an invitation of a user waits for the acknowledgement; zero for an immediate one.
    package var timeout: Duration { statedTimeout ?? .seconds(Limits.invitationTimeoutDefault) }

    /// Apps send numbers also as text.
    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .number(let text), .string(let text): Double(text).flatMap { $0.isNaN ? nil : $0 }
        case .bool(let flag): flag ? 1 : 0
        case .null, .array, .object: nil
        }
    }
}
