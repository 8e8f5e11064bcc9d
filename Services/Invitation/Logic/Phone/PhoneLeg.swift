package import BusProtocol
package import SignalingProtocol

/// The telephone's side of a call.
package struct PhoneLeg: Equatable, Sendable {
    /// The telephone's role; the other party is a user.
    package var role: CallRole
    /// The sip-bridge that holds the telephone; nil until a bridge has claimed an outgoing call.
    package var bridge: BridgeID?
    /// How long it may ring; nil for the service's own limit.
    package var ring: Duration?
    /// The longest duration of the call from its answer; nil for the service's own limit.
    package var longest: Duration?
    /// The SIP facts known so far.
    package var record: PhoneRecord

    /// Creates the telephone's side of a new call.
    package init(
        role: CallRole, bridge: BridgeID? = nil, ring: Duration? = nil, longest: Duration? = nil,
        record: PhoneRecord = PhoneRecord()
    ) {
        self.role = role
        self.bridge = bridge
        self.ring = ring
        self.longest = longest
        self.record = record
    }

    /// Updated with the facts of a report; facts that the report does not contain stay.
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
    package var call: PhoneCall
    /// The act to order.
    package var act: PhoneOrderAct
    /// JSON text.
    package var extra: String

    /// Creates an order.
    package init(bridge: BridgeID, call: PhoneCall, act: PhoneOrderAct, extra: String) {
        self.bridge = bridge
        self.call = call
        self.act = act
        self.extra = extra
    }
}

/// The terms of an app's trunk that concern the invitation service.
package struct TrunkTerms: Equatable, Sendable {
    /// How long a telephone may ring.
    package var ring: Duration
    /// The longest duration of a call from its answer.
    package var longest = Duration.seconds(Limits.longestPhoneCall)
    /// The largest number of concurrent calls of one user to telephones.
    package var linesPerUser = Limits.phoneCallsPerUser
    /// The largest number of new calls of one user to telephones per minute.
    package var newLinesPerUser = Limits.newPhoneCallsPerUser
    /// The largest number of concurrent calls of the app to telephones.
    package var linesPerApp = Limits.phoneCallsPerApp
    /// The largest number of new calls of the app to telephones per minute.
    package var newLinesPerApp = Limits.newPhoneCallsPerApp

    /// Creates terms with default bounds.
    package init(ring: Duration) { self.ring = ring }
}

extension Call {
    /// The call's identification in commands to sip-bridges; nil for a call between users.
    package var phoneCall: PhoneCall? {
        switch phone?.role {
        case .caller: PhoneCall(id: id.rawValue, channel: channel, user: callee.account, phone: caller.account)
        case .callee: PhoneCall(id: id.rawValue, channel: channel, user: caller.account, phone: callee.account)
        case nil: nil
        }
    }

    /// Orders for the telephone in the role `role`; nil when that party is a user. Empty while no bridge holds the
    /// telephone: the bridge that claims it learns the state of the call then.
    func tellPhone(_ role: CallRole, _ type: CallEventType, _ extra: String) -> [CallAction]? {
        guard let phone, phone.role == role, let phoneCall else { return nil }
        guard let bridge = phone.bridge, let act = type.order else { return [] }
        return [.order(PhoneOrder(bridge: bridge, call: phoneCall, act: act, extra: extra))]
    }
}

extension CallEventType {
    /// The order for an event; nil for the invitation, which a telephone gets by being dialled.
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
