package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// Calls, in which the app's server acts in the name of an account.
extension APIOperation {
    static let calls: [APIOperation] = [
        APIOperation(
            "listCalls", "GET /v1/apps/{app}/calls", .key(.read), .query(["state", "limit", "after"]),
            act: APIArguments.listCalls),
        APIOperation("startCall", "POST /v1/apps/{app}/calls", .key(.admin), .body(), act: APIArguments.startCall),
        APIOperation(
            "endCall", "DELETE /v1/apps/{app}/calls/{call}", .key(.admin), .query(["account"]),
            act: APIArguments.endCall),
        APIOperation(
            "sendDigits", "POST /v1/apps/{app}/calls/{call}/digits", .key(.admin), .body(), act: APIArguments.sendDigits
        ),
    ]
}

extension APIAct {
    package enum Calls: Equatable, Sendable {
        /// An invitation.
        case start(CallAct)
        /// An act of the user in a call.
        case act(FindCall, CallVerb, extra: String)
    }

    /// The characters of a call's id.
    package static let callBytes = 1...256
    /// The digits that are sent at once: as many as a sip-bridge takes.
    package static let digits = 1...128
}

extension APIArguments {
    fileprivate func listCalls() throws(APIProblem) -> APIAct {
        let app = try app()
        let isAll = try query.word("state", of: ["all", "open"]) == "all"
        let list = try page(isAll ? .calls : .open, of: app)
        guard list.after.isEmpty || Self.id(ofPosition: list.after) != nil else {
            throw APIProblem.invalid("after", "the `next` of a page")
        }
        return .lists(.page(list))
    }

    fileprivate func startCall() throws(APIProblem) -> APIAct {
        let fields = try fields("from", "to", "channel", "extra")
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
        let actor = Actor(user: UserKey(app: try app(), account: caller), uid: 0, session: .server)
        return .calls(
            .start(CallAct(verb: .invite, actor: actor, channel: channel, peer: callee.rawValue, extra: extra)))
    }

    fileprivate func endCall() throws(APIProblem) -> APIAct {
        guard let account = try query.text("account", bytes: 0...Limits.accountBytes) else {
            throw APIProblem.invalid("account", "the account in whose name the call is ended")
        }
        return .calls(.act(try call(of: try APINames.account(account)), .end, extra: ""))
    }

    fileprivate func sendDigits() throws(APIProblem) -> APIAct {
        let fields = try fields("from", "digits")
        let call = try call(of: try fields.account("from"))
        return .calls(.act(call, .message, extra: Self.extra(digits: try Self.digits(fields))))
    }

    private func call(of account: Account) throws(APIProblem) -> FindCall {
        FindCall(user: UserKey(app: try app(), account: account), call: try APINames.call(text("call")))
    }

    /// Keys of a telephone, and commas for pauses; at least one key.
    private static func digits(_ fields: APIFields) throws(APIProblem) -> String {
        guard let text = fields["digits"]?.string, APIAct.digits.contains(text.utf8.count),
            text.utf8.allSatisfy({ keys.contains($0) || $0 == pause }), text.utf8.contains(where: keys.contains)
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
        JSONValue.object([JSONMember("msgtype", "dtmf"), JSONMember("msgdata", digits)]).compactText
    }
}
