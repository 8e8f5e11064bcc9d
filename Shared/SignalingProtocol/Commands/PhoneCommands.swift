/// One call between a user and a telephone, as the invitation service and the sip-bridges name it to each other.
package struct PhoneCall: Hashable, Sendable {
    /// The call's id, fresh for every invitation.
    package var id: String
    /// The channel that the call is about.
    package var channel: ChannelKey
    /// The party that is a user of the app.
    package var user: Account
    /// The party that is a telephone, under the name that the user knows it by.
    package var phone: Account

    package init(id: String, channel: ChannelKey, user: Account, phone: Account) {
        self.id = id
        self.channel = channel
        self.user = user
        self.phone = phone
    }
}

/// Asks a sip-bridge, any of them, to call a telephone through the app's trunk.
package struct DialPhone: ServiceCommand {
    package static let service = ServiceName.sipBridge
    package static let operation = "phone.dial"
    /// Only that the command was taken: ``PhoneReport`` tells how the call goes.
    package typealias Reply = Done
    /// The call.
    package var call: PhoneCall
    /// The caller's `extra`, verbatim: the bridge reads `srcNum` and `sip_header:NAME` in it.
    package var extra: String

    package init(call: PhoneCall, extra: String) {
        self.call = call
        self.extra = extra
    }
}

/// Tells the sip-bridge that holds a call's telephone what the user, or the system, did. Sent to that bridge's own stream.
package struct OrderPhone: ServiceCommand {
    package static let service = ServiceName.sipBridge
    package static let operation = "phone.order"
    package typealias Reply = Done
    /// The call.
    package var call: PhoneCall
    /// What happened.
    package var act: PhoneOrderAct
    /// The user's `extra`, or the system's own JSON text.
    package var extra: String

    package init(call: PhoneCall, act: PhoneOrderAct, extra: String) {
        self.call = call
        self.act = act
        self.extra = extra
    }
}

/// An act of the user, or of the system, that a telephone must learn of.
package enum PhoneOrderAct: String, Sendable, CaseIterable {
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
package struct PhoneReport: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.phone"
    /// True for acts that end a call.
    package var isVital: Bool {
        switch act {
        case .refused, .failed, .ended: true
        case .claimed, .ringing, .accepted, .message: false
        }
    }
    /// Whether the call goes on.
    package typealias Reply = PhoneStanding
    /// The call.
    package var call: PhoneCall
    /// The bridge that holds the telephone.
    package var bridge: BridgeID
    /// What happened.
    package var act: PhoneAct
    /// JSON text for the user.
    package var extra: String
    /// The SIP side of the call, for the call log.
    package var record: PhoneRecord

    package init(call: PhoneCall, bridge: BridgeID, act: PhoneAct, extra: String, record: PhoneRecord) {
        self.call = call
        self.bridge = bridge
        self.act = act
        self.extra = extra
        self.record = record
    }
}

/// An act of a telephone in a call, or of the bridge on its behalf.
package enum PhoneAct: Equatable, Sendable {
    /// The bridge takes the call over, before it dials. Refused when another bridge has the call, or when it is over.
    case claimed
    /// It rings.
    case ringing
    /// It was answered.
    case accepted
    /// The person refused.
    case refused
    /// The invitation failed, with code 700, 702, 703 or 704.
    case failed(SignalingCode)
    /// An answered call has ended: code 0 when the telephone hung up, otherwise 702 or 700.
    case ended(SignalingCode)
    /// A message, such as digits.
    case message
}

/// The SIP side of a call, as far as it is known.
package struct PhoneRecord: Equatable, Sendable {
    /// The SIP Call-ID.
    package var sipCallID: String?
    /// The status of the final response to INVITE, such as 200 or 486.
    package var status: Int?
    /// Its reason phrase.
    package var reason: String?

    /// Makes a record.
    package init(sipCallID: String? = nil, status: Int? = nil, reason: String? = nil) {
        self.sipCallID = sipCallID
        self.status = status
        self.reason = reason
    }
}

/// Whether a call goes on after a telephone's act.
package struct PhoneStanding: Equatable, Sendable {
    /// False when the call is over or another bridge's: the bridge must then hang up.
    package var stands: Bool

    package init(stands: Bool) { self.stands = stands }
}

/// A telephone calls a user. The bridge names the call; `call.phone` is the caller's number as the user sees it.
package struct InviteFromPhone: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.phone-invite"
    /// Stands false when the user is offline (``SignalingCode/invitePeerOffline``) or cannot be invited.
    package typealias Reply = PhoneStanding
    /// The call.
    package var call: PhoneCall
    /// The bridge that holds the telephone.
    package var bridge: BridgeID
    /// JSON text for the user: `srcNum`, `destNum`, selected headers.
    package var extra: String
    /// How long it may ring, ms; nil for the service's own limit.
    package var ring: Int64?
    /// The SIP side of the call, for the call log.
    package var record: PhoneRecord

    package init(call: PhoneCall, bridge: BridgeID, extra: String, ring: Int64?, record: PhoneRecord) {
        self.call = call
        self.bridge = bridge
        self.extra = extra
        self.ring = ring
        self.record = record
    }
}
