/// One call between a user and a telephone, as the invitation service and the sip-bridges name it to each other.
public struct PhoneCall: Hashable, Sendable {
    /// The call's id, fresh for every invitation.
    public var id: String
    /// What the call is about.
    public var channel: ChannelKey
    /// The party that is a user of the app.
    public var user: Account
    /// The party that is a telephone, under the name that the user knows it by.
    public var phone: Account

    /// Names a call.
    public init(id: String, channel: ChannelKey, user: Account, phone: Account) {
        self.id = id
        self.channel = channel
        self.user = user
        self.phone = phone
    }
}

/// Asks a sip-bridge, any of them, to call a telephone through the app's trunk.
public struct DialPhone: ServiceCommand {
    /// sip-bridge.
    public static let service = ServiceName.sipBridge
    /// `phone.dial`.
    public static let operation = "phone.dial"
    /// Nothing: what becomes of it is told by ``PhoneReport``.
    public typealias Reply = Done
    /// The call.
    public var call: PhoneCall
    /// The caller's `extra`, verbatim: the bridge reads `srcNum` and `sip_header:NAME` in it.
    public var extra: String

    /// Asks for a call.
    public init(call: PhoneCall, extra: String) {
        self.call = call
        self.extra = extra
    }
}

/// Tells the sip-bridge that holds a call's telephone what the user, or the system, did. Sent to that bridge's own stream.
public struct OrderPhone: ServiceCommand {
    /// sip-bridge.
    public static let service = ServiceName.sipBridge
    /// `phone.order`.
    public static let operation = "phone.order"
    /// Nothing.
    public typealias Reply = Done
    /// The call.
    public var call: PhoneCall
    /// What happened.
    public var act: PhoneOrderAct
    /// The user's `extra`, or the system's own JSON text.
    public var extra: String

    /// Tells of an act.
    public init(call: PhoneCall, act: PhoneOrderAct, extra: String) {
        self.call = call
        self.act = act
        self.extra = extra
    }
}

/// What a telephone is to be told.
public enum PhoneOrderAct: String, Sendable, CaseIterable {
    /// The user's client has the invitation: it rings there.
    case ringing
    /// The user accepted.
    case accept
    /// The user refused.
    case refuse
    /// The user, or the system, ended the call, at whatever stage.
    case end
    /// The invitation came to nothing: nobody answered, or the user is offline.
    case fail
    /// The user sent a message, such as digits.
    case message
}

/// A sip-bridge tells what a call's telephone did.
public struct PhoneReport: ServiceCommand {
    /// invitation.
    public static let service = ServiceName.invitation
    /// `call.phone`.
    public static let operation = "call.phone"
    /// For what ends a call.
    public var isVital: Bool {
        switch act {
        case .refused, .failed, .ended: true
        case .claimed, .ringing, .accepted, .message: false
        }
    }
    /// Whether the call stands.
    public typealias Reply = PhoneStanding
    /// The call.
    public var call: PhoneCall
    /// The bridge that holds the telephone.
    public var bridge: GatewayID
    /// What happened.
    public var act: PhoneAct
    /// JSON text for the user.
    public var extra: String
    /// What stands in the call log.
    public var record: PhoneRecord

    /// Tells of an act.
    public init(call: PhoneCall, bridge: GatewayID, act: PhoneAct, extra: String, record: PhoneRecord) {
        self.call = call
        self.bridge = bridge
        self.act = act
        self.extra = extra
        self.record = record
    }
}

/// What a telephone, or the bridge in its name, does in a call.
public enum PhoneAct: Equatable, Sendable {
    /// The bridge takes the call upon itself; nothing was dialled yet. Refused when another bridge has it, or it is over.
    case claimed
    /// It rings.
    case ringing
    /// It was answered.
    case accepted
    /// The person refused.
    case refused
    /// Nothing came of the invitation; 700, 702, 703 or 704.
    case failed(SignalingCode)
    /// The call, answered before, is over; 0 when the telephone hung up, else 702 or 700.
    case ended(SignalingCode)
    /// A message, such as digits.
    case message
}

/// The SIP side of a call, as far as it is known.
public struct PhoneRecord: Equatable, Sendable {
    /// The SIP Call-ID.
    public var sipCallID: String?
    /// The status of the final response to INVITE, such as 200 or 486.
    public var status: Int?
    /// Its reason phrase.
    public var reason: String?

    /// Makes a record.
    public init(sipCallID: String? = nil, status: Int? = nil, reason: String? = nil) {
        self.sipCallID = sipCallID
        self.status = status
        self.reason = reason
    }
}

/// Whether a call stands after a telephone's act.
public struct PhoneStanding: Equatable, Sendable {
    /// False: the call is over, or another bridge's; the bridge must let go of the telephone.
    public var stands: Bool

    /// Says so.
    public init(stands: Bool) { self.stands = stands }
}

/// A telephone calls a user. The bridge names the call; `call.phone` is the caller's number as the user sees it.
public struct InviteFromPhone: ServiceCommand {
    /// invitation.
    public static let service = ServiceName.invitation
    /// `call.phone-invite`.
    public static let operation = "call.phone-invite"
    /// Stands false when the user is offline (``SignalingCode/invitePeerOffline``) or cannot be invited.
    public typealias Reply = PhoneStanding
    /// The call.
    public var call: PhoneCall
    /// The bridge that holds the telephone.
    public var bridge: GatewayID
    /// JSON text for the user: `srcNum`, `destNum`, selected headers.
    public var extra: String
    /// How long it may ring, ms; nil for the service's own limit.
    public var ring: Int64?
    /// What stands in the call log.
    public var record: PhoneRecord

    /// Invites.
    public init(call: PhoneCall, bridge: GatewayID, extra: String, ring: Int64?, record: PhoneRecord) {
        self.call = call
        self.bridge = bridge
        self.extra = extra
        self.ring = ring
        self.record = record
    }
}
