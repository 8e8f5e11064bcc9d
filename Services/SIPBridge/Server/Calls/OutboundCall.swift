internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol
internal import SignalingWire

/// What the INVITE of an outbound call says, except for the media: read from the trunk's settings and the caller's `extra`.
struct OutboundCall {
    /// Why the call is not made.
    struct Problem: Error {
        var reason: DialogReason
        /// For the log: the kind of value, not the value.
        var message: String
    }

    private static let headerStart = "sip_header:"
    /// Added to the ring limit, ms: the invitation service ends the call at the limit; only if it does not, the bridge does.
    private static let ringGrace: Int64 = 10_000

    let trunk: SIPTrunk
    let target: String
    let from: String
    let headers: [SIPHeaderField]
    let isTraced: Bool

    var credentials: DigestCredentials? {
        guard let user = trunk.authUser, let secret = trunk.secret else { return nil }
        return DigestCredentials(username: user, password: secret)
    }
    var ring: Int64 { Int64(trunk.ringSeconds) * 1000 + Self.ringGrace }

    /// Reads the caller's wishes.
    /// - Parameters:
    ///   - extra: the caller's JSON text; what is no JSON object asks for nothing.
    ///   - ownsNumber: whether ``shownNumber(_:extra:)`` is one of the account's own.
    init(_ call: PhoneCall, extra: String, trunk: SIPTrunk, ownsNumber: Bool = false) throws(Problem) {
        self.trunk = trunk
        guard let callee = PhoneTarget(callee: call.phone.rawValue) else {
            throw Problem(reason: .invalidNumber, message: "the callee is no telephone")
        }
        guard trunk.policy.allowsCallee(callee.name, isOpen: trunk.isOfOpenApp) else {
            throw Problem(reason: .numberNotAllowed, message: "the app's users may not call that number")
        }
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
            throw Problem(reason: .invalidNumber, message: "the trunk's host or the callee makes no SIP URI")
        }
    }

    /// The number that the telephone is to be shown, unless it is the trunk's: `srcNum`, or an account that reads like one.
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
            guard let caller = PhoneTarget(callee: number) else {
                throw Problem(reason: .invalidNumber, message: "srcNum is no number")
            }
            guard ownsNumber || caller.name == ofTrunk?.name || trunk.policy.allowsCaller(caller.name) else {
                throw Problem(reason: .callerNotAllowed, message: "srcNum is no number of the caller's")
            }
            return caller.user
        }
        if let ofTrunk { return ofTrunk.user }
        let account = call.user.rawValue
        // Users may choose any account name: one that looks like a number must not be shown as theirs unchecked.
        guard !PhoneCaller.isNumber(account) || ownsNumber || trunk.policy.allowsCaller(account) else {
            return PhoneCaller.anonymous
        }
        return PhoneCaller.user(of: account)
    }

    /// The identity headers that the trunk sets for all its callers.
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
                throw Problem(reason: .invalidHeader, message: "a header's value is neither text nor number")
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
