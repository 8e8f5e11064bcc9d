internal import SignalingProtocol
internal import SignalingWire

/// Calls in which the app's server acts in the name of an account.
extension APIRequest {
    func calling(_ body: JSONValue, _ query: APIQuery) throws(APIProblem) -> APIAct {
        switch route {
        case .startCall: return try starting(body)
        case .endCall:
            guard let account = try query.text("account", bytes: 0...Limits.accountBytes) else {
                throw APIProblem.invalid("account", "the account in whose name the call is ended")
            }
            return .actInCall(try call(of: try APINames.account(account)), .end, extra: "")
        default:
            let fields = try APIFields(body, known: ["from", "digits"])
            let call = try call(of: try fields.account("from"))
            return .actInCall(call, .message, extra: Self.extra(digits: try digits(fields)))
        }
    }

    private func starting(_ body: JSONValue) throws(APIProblem) -> APIAct {
        let fields = try APIFields(body, known: ["from", "to", "channel", "extra"])
        let (caller, callee) = (try fields.newAccount("from"), try fields.newAccount("to"))
        guard caller != callee else { throw APIProblem.invalid("to", "another account than from") }
        guard let name = fields["channel"]?.string else { throw APIProblem.invalid("channel", "a string") }
        let channel = try APINames.newChannel(name)
        var extra = ""
        if fields.has("extra") {
            extra = try fields.text("extra", bytes: 0...Limits.messageBytes)
            guard extra.isEmpty || (try? JSONValue.parse(extra.utf8)) != nil else {
                throw APIProblem.invalid("extra", "empty or JSON, as a string")
            }
        }
        let actor = Actor(user: UserKey(app: try knownApp(), account: caller), uid: 0, session: .server)
        return .startCall(
            CallAct(verb: .invite, actor: actor, channel: channel, peer: callee.rawValue, extra: extra))
    }

    private func call(of account: Account) throws(APIProblem) -> FindCall {
        FindCall(
            user: UserKey(app: try knownApp(), account: account),
            call: try APINames.call(match.parameters["call"] ?? ""))
    }

    /// Keys of a telephone, and commas for pauses; at least one key.
    private func digits(_ fields: APIFields) throws(APIProblem) -> String {
        guard let text = fields["digits"]?.string, APIAct.digits.contains(text.utf8.count),
            text.utf8.allSatisfy({ Self.keys.contains($0) || $0 == Self.pause }),
            text.utf8.contains(where: Self.keys.contains)
        else {
            throw APIProblem.invalid(
                fields.place(of: "digits"),
                "a string of \(APIAct.digits.lowerBound)...\(APIAct.digits.upperBound) of 0-9 * # A-D and commas, "
                    + "with at least one that is no comma")
        }
        return text
    }

    private static let keys = Set("0123456789*#ABCD".utf8)
    private static let pause = UInt8(ascii: ",")

    /// Digits as clients send them.
    private static func extra(digits: String) -> String {
        JSONValue.object([JSONMember("msgtype", .string("dtmf")), JSONMember("msgdata", .string(digits))]).compactText
    }
}
