package import SignalingProtocol

/// Identifies one call between a user and a telephone in commands between the invitation service and the sip-bridges.
package struct PhoneCall: Hashable, Sendable, FieldRecord {
    /// The call's id, new for every invitation.
    package var id: String
    /// The channel that the call is about.
    package var channel: ChannelKey
    /// The user's account.
    package var user: Account
    /// The telephone, under the name by which the user knows it.
    package var phone: Account

    package init(id: String, channel: ChannelKey, user: Account, phone: Account) {
        self.id = id
        self.channel = channel
        self.user = user
        self.phone = phone
    }

    /// The user: what a call changes most is the user's.
    var subject: Subject { .user(UserKey(app: channel.app, account: user)) }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            id: try fields.field("call", \.id),
            channel: try fields.fields(of: \.channel),
            user: try fields.field("user", \.user),
            phone: try fields.field("phone", \.phone))
    }
}

/// Asks the sip-bridges to call a telephone through the app's trunk; any of them may take the command.
package struct DialPhone: ServiceCommand {
    package static let service = ServiceName.sipBridge
    package static let operation = "phone.dial"
    /// Success means only that the command was accepted; ``PhoneReport`` tells how the call proceeds.
    package typealias Reply = Done
    package var call: PhoneCall
    /// The caller's `extra`, unchanged: the bridge reads `srcNum` and `sip_header:NAME` from it.
    package var extra: String

    package var subject: Subject { call.subject }

    package init(call: PhoneCall, extra: String) {
        self.call = call
        self.extra = extra
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(call: try fields.fields(of: \.call), extra: try fields.field("extra", \.extra))
    }
}

/// Informs the sip-bridge that holds a call's telephone of an act of the user or the system. Sent to that bridge's own
/// stream.
package struct OrderPhone: ServiceCommand {
    package static let service = ServiceName.sipBridge
    package static let operation = "phone.order"
    package typealias Reply = Done
    package var call: PhoneCall
    /// The act.
    package var act: PhoneOrderAct
    /// The user's `extra`, or JSON text from the system.
    package var extra: String

    package var subject: Subject { call.subject }

    package init(call: PhoneCall, act: PhoneOrderAct, extra: String) {
        self.call = call
        self.act = act
        self.extra = extra
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            act: try fields.field("act", \.act),
            extra: try fields.field("extra", \.extra))
    }
}

/// An act of the user or the system of which a telephone must be informed.
package enum PhoneOrderAct: String, Sendable, CaseIterable, FieldValue {
    /// The user's client has received the invitation and rings.
    case ringing
    /// The user accepted.
    case accept
    /// The user refused.
    case refuse
    /// The user or the system ended the call, in whatever state it was.
    case end
    /// The invitation failed: it was not answered in time, or the user is offline.
    case fail
    /// The user sent a message, such as DTMF digits.
    case message
}

/// Reports an act of a call's telephone, from its sip-bridge.
package struct PhoneReport: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.phone"
    /// True for acts that end a call: they free memory.
    package var isVital: Bool {
        switch act {
        case .refused, .failed, .ended: true
        case .claimed, .ringing, .accepted, .message: false
        }
    }
    /// Whether the call continues.
    package typealias Reply = PhoneCallStatus
    package var call: PhoneCall
    /// The bridge that holds the telephone.
    package var bridge: BridgeID
    /// The act.
    package var act: PhoneAct
    /// JSON text for the user.
    package var extra: String
    /// The SIP side of the call, for the call log.
    package var record: PhoneRecord

    package var subject: Subject { call.subject }

    package init(call: PhoneCall, bridge: BridgeID, act: PhoneAct, extra: String, record: PhoneRecord) {
        self.call = call
        self.bridge = bridge
        self.act = act
        self.extra = extra
        self.record = record
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            bridge: try fields.field("bridge", \.bridge),
            act: try fields.fields(of: \.act),
            extra: try fields.field("extra", \.extra),
            record: try fields.fields(of: \.record))
    }
}

/// An act of a telephone in a call, or of its bridge on its behalf.
package enum PhoneAct: Equatable, Sendable {
    /// The bridge claims the call before it dials. Refused when another bridge has claimed it, or when it has ended.
    case claimed
    /// The telephone rings.
    case ringing
    /// The telephone was answered.
    case accepted
    /// The person called refused.
    case refused
    /// The invitation failed, with code 700, 702, 703 or 704.
    case failed(SignalingCode)
    /// An answered call has ended: code 0 when the telephone hung up, otherwise 702 or 700.
    case ended(SignalingCode)
    /// The telephone sent a message, such as DTMF digits.
    case message
}

extension PhoneAct: FieldRecord {
    private enum Kind: String, CaseIterable, FieldValue {
        case claimed, ringing, accepted, refused, message, failed, ended
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("act", \.kind) {
        case .claimed: self = .claimed
        case .ringing: self = .ringing
        case .accepted: self = .accepted
        case .refused: self = .refused
        case .message: self = .message
        case .failed: self = .failed(try fields.own("code", \.code))
        case .ended: self = .ended(try fields.own("code", \.code))
        }
    }

    private var kind: Kind {
        switch self {
        case .claimed: .claimed
        case .ringing: .ringing
        case .accepted: .accepted
        case .refused: .refused
        case .message: .message
        case .failed: .failed
        case .ended: .ended
        }
    }

    private var code: SignalingCode? {
        switch self {
        case .failed(let code), .ended(let code): code
        case .claimed, .ringing, .accepted, .refused, .message: nil
        }
    }
}

/// The SIP side of a call, as far as known; for the call log.
package struct PhoneRecord: Equatable, Sendable, FieldRecord {
    /// The SIP Call-ID.
    package var sipCallID: String?
    /// The status of the final response to INVITE, such as 200 or 486.
    package var status: Int?
    /// Its reason phrase.
    package var reason: String?

    /// Creates a record; what is not known is nil.
    package init(sipCallID: String? = nil, status: Int? = nil, reason: String? = nil) {
        self.sipCallID = sipCallID
        self.status = status
        self.reason = reason
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            sipCallID: try fields.optional("sip_call_id", \.sipCallID),
            status: try fields.optional("sip_status", \.status),
            reason: try fields.optional("sip_reason", \.reason))
    }
}

/// Whether a call continues after an act of its telephone.
package struct PhoneCallStatus: Equatable, Sendable, FieldRecord {
    /// False when the call has ended or belongs to another bridge: the bridge must then hang up.
    package var continues: Bool

    package init(continues: Bool) { self.continues = continues }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(continues: try fields.field("stands", \.continues))
    }
}

/// Invites a user on behalf of a telephone that calls. The bridge chooses the call's id; `call.phone` is the caller's
/// number as shown to the user.
package struct InviteFromPhone: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.phone-invite"
    /// `continues` is false when the user is offline (``SignalingCode/invitePeerOffline``) or cannot be invited.
    package typealias Reply = PhoneCallStatus
    package var call: PhoneCall
    /// The bridge that holds the telephone.
    package var bridge: BridgeID
    /// JSON text for the user: `srcNum`, `destNum`, selected headers.
    package var extra: String
    /// How long it may ring, in ms; nil for the service's own limit.
    package var ring: Int64?
    /// The SIP side of the call, for the call log.
    package var record: PhoneRecord

    package var subject: Subject { call.subject }

    package init(call: PhoneCall, bridge: BridgeID, extra: String, ring: Int64?, record: PhoneRecord) {
        self.call = call
        self.bridge = bridge
        self.extra = extra
        self.ring = ring
        self.record = record
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            bridge: try fields.field("bridge", \.bridge),
            extra: try fields.field("extra", \.extra),
            ring: try fields.optional("ring", \.ring),
            record: try fields.fields(of: \.record))
    }
}
