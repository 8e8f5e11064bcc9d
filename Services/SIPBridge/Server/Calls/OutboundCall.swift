internal import BusProtocol
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol
internal import SignalingWire

/// The content of an outbound call's INVITE, except the media: derived from the trunk's settings and the caller's
/// `extra`.
struct OutboundCall {
    /// Why the call cannot be made.
    struct Problem: Error {
        var reason: DialogReason
        /// For the log: names the kind of value, not the value.
        var message: String
    }

    private static let headerStart = "sip_header:"
    /// Added to the ring limit: the invitation service ends the call at the limit, and the bridge only if it
    /// does not.
    private static let ringGrace = Duration.seconds(10)

    let trunk: SIPTrunk
    let target: String
    let from: String
    let headers: [SIPHeaderField]
    let isTraced: Bool

    /// How long the telephone may ring.
    var ring: Duration { trunk.ringTime + Self.ringGrace }

    /// Derives the content.
    /// - Parameters:
    ///   - extra: the caller's JSON text; text that is not a JSON object requests nothing.
    ///   - ownsNumber: whether ``shownNumber(_:extra:)`` is one of the account's own numbers.
    init(_ call: PhoneCall, extra: String, trunk: SIPTrunk, ownsNumber: Bool = false) throws(Problem) {
        self.trunk = trunk
        guard let callee = PhoneTarget(callee: call.phone.rawValue) else {
            throw Problem(reason: .invalidNumber, message: "the callee is not a telephone number")
        }
        let isNumber = PhoneCaller.isNumber(callee.name)
        guard callee.isDialable,
            trunk.policy.allowsCallee(callee.name, isNumber: isNumber, isOpen: trunk.isOfOpenApp)
        else { throw Problem(reason: .numberNotAllowed, message: "the app's users may not call that number") }
        let json = (try? JSONValue.parse(extra.utf8)) ?? .null
        let host = SIPEncoding.uriHost(trunk.host)
        let transport =
            switch trunk.transport {
            case .udp: ""
            case .tcp, .tls: ";transport=\(trunk.transport.rawValue)"
            }
        target = "sip:\(callee.user)@\(host):\(trunk.port)\(transport)"
        from = "sip:\(try Self.caller(json, call, trunk, ownsNumber))@\(trunk.fromDomain ?? host)"
        headers = try Self.headers(json) + Self.identity(trunk)
        isTraced = trunk.trace || json["sip_trace"]?.isTrue == true
        guard SIPEncoding.isURI(target), SIPEncoding.isURI(from) else {
            throw Problem(reason: .invalidNumber, message: "the trunk's host and the callee do not form a SIP URI")
        }
    }

    /// The number that the caller wants to be shown: `srcNum`, or an account that looks like a number; nil for the
    /// trunk's.
    static func shownNumber(_ call: PhoneCall, extra: String) -> String? {
        let json = (try? JSONValue.parse(extra.utf8)) ?? .null
        if let number = CallExtraJSON.name(json["srcNum"]), !number.isEmpty { return PhoneTarget(callee: number)?.name }
        return PhoneCaller.isNumber(call.user.rawValue) ? call.user.rawValue : nil
    }

    /// The user part of From.
    private static func caller(
        _ json: JSONValue, _ call: PhoneCall, _ trunk: SIPTrunk, _ ownsNumber: Bool
    ) throws(Problem) -> String {
        let ofTrunk = trunk.authUser.flatMap { PhoneTarget(callee: $0) }
        if let number = CallExtraJSON.name(json["srcNum"]), !number.isEmpty {
            guard let caller = PhoneTarget(callee: number), caller.isDialable else {
                throw Problem(reason: .invalidNumber, message: "srcNum is not a number")
            }
            guard ownsNumber || caller.name == ofTrunk?.name || trunk.policy.allowsCaller(caller.name) else {
                throw Problem(reason: .callerNotAllowed, message: "srcNum is not one of the caller's numbers")
            }
            return caller.user
        }
        if let ofTrunk { return ofTrunk.user }
        let account = call.user.rawValue
        // Users may choose any account name: one that looks like a number must not be shown without a check.
        guard !PhoneCaller.isNumber(account) || ownsNumber || trunk.policy.allowsCaller(account) else {
            return PhoneCaller.anonymous
        }
        return PhoneCaller.user(of: account)
    }

    /// The identity headers that the trunk's settings require for all callers.
    private static func identity(_ trunk: SIPTrunk) -> [SIPHeaderField] {
        var fields: [SIPHeaderField] = []
        if let identity = trunk.assertedIdentity {
            fields.append(SIPHeaderField("P-Asserted-Identity", "<\(identity)>"))
        }
        if let privacy = trunk.privacy { fields.append(SIPHeaderField("Privacy", privacy)) }
        return fields
    }

    private static func headers(_ json: JSONValue) throws(Problem) -> [SIPHeaderField] {
        guard case .object(let members) = json else { return [] }
        var headers = OutgoingHeaders()
        for member in members where member.name.hasPrefix(headerStart) {
            guard let value = CallExtraJSON.name(member.value) else {
                throw Problem(reason: .invalidHeader, message: "a header's value must be text or a number")
            }
            do {
                try headers.add(name: String(member.name.dropFirst(headerStart.count)), value: value)
            } catch {
                throw Problem(reason: .invalidHeader, message: "a header is not allowed: \(error.rawValue)")
            }
        }
        return headers.fields
    }
}
