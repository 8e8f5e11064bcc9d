public import SignalingProtocol
internal import SignalingWire

/// The keys of an invitation's `extra` that the system reads. Source: Signaling API, "channelInviteUser2".
public struct InvitationOptions: Equatable, Sendable {
    /// Fail at once when the callee is offline (`_require_peer_online` 1).
    public var requiresPeerOnline: Bool
    /// How long the invitation waits for the callee's acknowledgement, ms; `_timeout` in seconds, clamped to
    /// ``Limits/invitationTimeout``. 0: now or never.
    public var timeout: Int64

    /// Options by hand.
    public init(requiresPeerOnline: Bool = false, timeout: Int64 = Int64(Limits.invitationTimeoutDefault) * 1000) {
        self.requiresPeerOnline = requiresPeerOnline
        self.timeout = timeout
    }

    /// Reads them from JSON text; text that is not a JSON object is passed on to the callee and sets nothing.
    public init(extra: String) {
        self.init()
        guard let json = try? JSONValue.parse(Array(extra.utf8)), case .object = json else { return }
        if let required = json["_require_peer_online"] { requiresPeerOnline = Self.number(required) == 1 }
        if let seconds = json["_timeout"].flatMap(Self.number) {
            let range = Limits.invitationTimeout
            timeout = Int64(min(max(seconds, Double(range.lowerBound)), Double(range.upperBound)) * 1000)
        }
    }

    /// Apps send numbers also as text.
    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .number(let text), .string(let text): Double(text).flatMap { $0.isNaN ? nil : $0 }
        case .bool(let flag): flag ? 1 : 0
        case .null, .array, .object: nil
        }
    }
}
