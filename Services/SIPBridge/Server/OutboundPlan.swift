internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol
internal import SignalingWire

/// Everything that the INVITE of an outbound call says, but for the media.
struct OutboundPlan {
    /// Why there is none.
    struct Problem: Error {
        var reason: DialogReason
        /// For the log: the kind of value, not the value.
        var message: String
    }

    private static let headerStart = "sip_header:"
    /// Beyond the ring limit of the invitation service, which ends the call first while it lives, ms.
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

    /// Reads what the caller asked for.
    /// - Parameter extra: the caller's JSON text; what is no JSON object asks for nothing.
    init(_ call: PhoneCall, extra: String, trunk: SIPTrunk) throws(Problem) {
        self.trunk = trunk
        guard let callee = PhoneTarget(callee: call.phone.rawValue) else {
            throw Problem(reason: .invalidNumber, message: "the callee is no telephone")
        }
        let json = (try? JSONValue.parse(extra.utf8)) ?? .null
        let host = SIPEncoding.uriHost(trunk.host)
        let transport =
            switch trunk.transport {
            case .udp: ""
            case .tcp, .tls: ";transport=\(trunk.transport.rawValue)"
            }
        target = "sip:\(callee.user)@\(host):\(trunk.port)\(transport)"
        from = "sip:\(try Self.caller(json, call, trunk))@\(trunk.fromDomain ?? host)"
        headers = try Self.headers(json)
        isTraced = trunk.trace || json["sip_trace"]?.isTrue == true
        guard SIPEncoding.isURI(target), SIPEncoding.isURI(from) else {
            throw Problem(reason: .invalidNumber, message: "the trunk's host or the callee makes no SIP URI")
        }
    }

    /// The user part of From.
    private static func caller(_ json: JSONValue, _ call: PhoneCall, _ trunk: SIPTrunk) throws(Problem) -> String {
        if let number = PhoneExtra.name(json["srcNum"]), !number.isEmpty {
            guard let caller = PhoneTarget(callee: number) else {
                throw Problem(reason: .invalidNumber, message: "srcNum is no number")
            }
            return caller.user
        }
        if let user = trunk.authUser, let caller = PhoneTarget(callee: user) { return caller.user }
        return PhoneCaller.user(of: call.user.rawValue)
    }

    private static func headers(_ json: JSONValue) throws(Problem) -> [SIPHeaderField] {
        guard case .object(let members) = json else { return [] }
        var headers = OutgoingHeaders()
        for member in members where member.name.hasPrefix(headerStart) {
            guard let value = PhoneExtra.name(member.value) else {
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
