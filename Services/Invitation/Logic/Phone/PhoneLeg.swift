package import SignalingProtocol

/// The telephone's side of a call.
package struct PhoneLeg: Equatable, Sendable {
    /// Which party the telephone is; the other is a user.
    package var role: CallRole
    /// The sip-bridge that holds it; nil until one takes an outgoing call upon itself.
    package var bridge: BridgeID?
    /// How long it may ring, ms; nil for the service's own limit.
    package var ring: Int64?
    /// How long the call may last from its answer on, ms; nil for the service's own limit.
    package var longest: Int64?
    /// What SIP said so far.
    package var record: PhoneRecord

    /// A side that begins.
    package init(
        role: CallRole, bridge: BridgeID? = nil, ring: Int64? = nil, longest: Int64? = nil,
        record: PhoneRecord = PhoneRecord()
    ) {
        self.role = role
        self.bridge = bridge
        self.ring = ring
        self.longest = longest
        self.record = record
    }

    /// Updated by a report; what the report leaves out stays.
    func noting(_ news: PhoneRecord) -> PhoneLeg {
        var leg = self
        leg.record = PhoneRecord(
            sipCallID: news.sipCallID ?? record.sipCallID, status: news.status ?? record.status,
            reason: news.reason ?? record.reason)
        return leg
    }
}

/// An order to the sip-bridge that holds a call's telephone.
package struct PhoneOrder: Equatable, Sendable {
    /// The bridge.
    package var bridge: BridgeID
    /// The call.
    package var call: PhoneCall
    /// What it orders.
    package var act: PhoneOrderAct
    /// JSON text.
    package var extra: String

    /// Makes an order.
    package init(bridge: BridgeID, call: PhoneCall, act: PhoneOrderAct, extra: String) {
        self.bridge = bridge
        self.call = call
        self.act = act
        self.extra = extra
    }
}

/// What the invitation service needs to know of an app's trunk.
package struct TrunkTerms: Equatable, Sendable {
    /// How long a telephone may ring, ms.
    package var ring: Int64
    /// How long a call may last from its answer on, ms.
    package var longest = Int64(Limits.longestPhoneCall) * 1000
    /// Calls of one user to telephones at once.
    package var linesPerUser = Limits.phoneCallsPerUser
    /// New ones in a minute.
    package var newLinesPerUser = Limits.newPhoneCallsPerUser
    /// Calls of the app to telephones at once.
    package var linesPerApp = Limits.phoneCallsPerApp
    /// New ones in a minute.
    package var newLinesPerApp = Limits.newPhoneCallsPerApp

    /// Terms with the default bounds.
    package init(ring: Int64) { self.ring = ring }
}

extension Call {
    /// The name of the call between the service and the sip-bridges; nil for a call between users.
    package var phoneCall: PhoneCall? {
        switch phone?.role {
        case .caller: PhoneCall(id: id.rawValue, channel: channel, user: callee, phone: caller)
        case .callee: PhoneCall(id: id.rawValue, channel: channel, user: caller, phone: callee)
        case nil: nil
        }
    }

    /// Orders for the telephone in the party `role`; nil when that party is a user. Empty while no bridge holds the telephone:
    /// the bridge that takes it over finds the state of the call.
    func tellPhone(_ role: CallRole, _ type: CallEventType, _ extra: String) -> [CallAction]? {
        guard let phone, phone.role == role, let phoneCall else { return nil }
        guard let bridge = phone.bridge, let act = type.order else { return [] }
        return [.order(PhoneOrder(bridge: bridge, call: phoneCall, act: act, extra: extra))]
    }
}

extension CallEventType {
    /// The same, as a telephone is told it; nil for the invitation, which it gets by being dialled.
    fileprivate var order: PhoneOrderAct? {
        switch self {
        case .invitation: nil
        case .acknowledged: .ringing
        case .accepted: .accept
        case .refused: .refuse
        case .ended: .end
        case .message: .message
        case .failed: .fail
        }
    }
}
