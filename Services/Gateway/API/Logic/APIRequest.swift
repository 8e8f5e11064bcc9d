package import SignalingProtocol
package import SignalingWire

/// A request whose path is known; its other arguments are still to be checked.
package struct APIRequest: Sendable {
    package let match: APIRouter.Match
    private let query: Substring?
    /// The header `Last-Event-ID`, by which a client resumes a stream of events.
    package var lastEventID: String?

    /// - Parameter target: the path and the query, as in the request line.
    /// - Throws: ``APIProblem``, as ``APIRouter/match(method:path:)``.
    package init(method: String, target: String) throws(APIProblem) {
        let path = target.prefix { $0 != "?" }
        match = try APIRouter.match(method: method, path: path)
        query = path.endIndex == target.endIndex ? nil : target[target.index(after: path.endIndex)...]
    }

    package var route: APIRoute { match.route }

    /// The app of the path; nil when it has none.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument``.
    package func app() throws(APIProblem) -> AppID? {
        guard let text = match.parameters["app"] else { return nil }
        return try APINames.app(text)
    }

    /// Checks all arguments.
    /// - Parameter body: nil when the operation has none.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument`` or ``APIErrorCode/malformed``.
    package func act(body: JSONValue?) throws(APIProblem) -> APIAct {
        let query = try APIQuery(query, known: route.parameters)
        switch route {
        case .getError:
            guard let code = APIErrorCode(rawValue: match.parameters["code"] ?? "") else {
                throw APIProblem(.notFound, "there is no such code")
            }
            return .describeError(code)
        case .getKey: return .describeKey
        case .getMetrics: return .getMetrics
        case .listProcesses: return .listProcesses
        case .listApps, .listCalls, .listUsers, .listChannels, .listBans, .getUsage: return try listing(query)
        case .followEvents: return try following(query)
        case .startCall, .endCall, .sendDigits: return try calling(body ?? .null, query)
        case .listChannelMessages, .listChannelEvents:
            return .readHistory(try channel(), try history(query))
        case .sendMessage, .sendChannelMessage, .sendMessages, .broadcast: return try sending(body ?? .null)
        case .getUser: return .getUser(try user())
        case .disconnectUser: return .disconnect(try user())
        case .mintToken:
            let fields = try APIFields(body ?? .null, known: ["ttl"])
            return .mintToken(
                try newUser(), seconds: try fields.integer("ttl", in: APIAct.tokenSeconds, standard: 86_400))
        case .getBan: return .getBan(try user())
        case .setBan: return try ban(body ?? .null)
        case .deleteBan: return .liftBan(try user())
        case .revokeTokens: return try revoking(body ?? .null)
        case .listUserAttributes: return .listUserAttributes(try user())
        case .getUserAttribute: return .getUserAttribute(try user(), try name())
        case .setUserAttribute, .deleteUserAttribute: return try userAttribute(body)
        case .getChannel: return .getChannel(try channel())
        case .listMembers:
            if let list = try membersByName(query) { return list }
            return .listMembers(
                try channel(), limit: try query.integer("limit", in: 0...APIAct.membersBound, standard: 100))
        case .getMember: return .getMember(try channel(), try account())
        case .listChannelAttributes: return .listChannelAttributes(try channel())
        case .getChannelAttribute: return .getChannelAttribute(try channel(), try name())
        case .setChannelAttribute, .deleteChannelAttribute: return try channelAttribute(body)
        }
    }

    // MARK: - Names of the path

    func knownApp() throws(APIProblem) -> AppID { try APINames.app(match.parameters["app"] ?? "") }
    private func account() throws(APIProblem) -> Account { try APINames.account(match.parameters["account"] ?? "") }
    private func user() throws(APIProblem) -> UserKey { UserKey(app: try knownApp(), account: try account()) }
    private func newUser() throws(APIProblem) -> UserKey { UserKey(app: try knownApp(), account: try newAccount()) }
    private func name() throws(APIProblem) -> AttributeName { try APINames.attribute(match.parameters["name"] ?? "") }

    private func channel() throws(APIProblem) -> ChannelKey {
        ChannelKey(app: try knownApp(), name: try APINames.channel(match.parameters["channel"] ?? ""))
    }

    private func newAccount() throws(APIProblem) -> Account {
        try APINames.newAccount(match.parameters["account"] ?? "")
    }

    private func newName() throws(APIProblem) -> AttributeName {
        try APINames.newAttribute(match.parameters["name"] ?? "")
    }

    private func newChannel() throws(APIProblem) -> ChannelKey {
        ChannelKey(app: try knownApp(), name: try APINames.newChannel(match.parameters["channel"] ?? ""))
    }

    private func ordinaryChannel() throws(APIProblem) -> ChannelKey {
        ChannelKey(app: try knownApp(), name: try APINames.ordinaryChannel(match.parameters["channel"] ?? ""))
    }

    // MARK: - Tokens

    private func revoking(_ body: JSONValue) throws(APIProblem) -> APIAct {
        let fields = try APIFields(body, known: ["token", "ttl"])
        guard fields.has("token") != fields.has("ttl") else {
            throw APIProblem.invalid(fields.has("ttl") ? "ttl" : "token", "given, or else ttl; not both")
        }
        guard fields.has("token") else {
            return .revokeTokens(try user(), .made(seconds: try fields.integer("ttl", in: APIAct.tokenSeconds)))
        }
        return .revokeTokens(try user(), .token(try fields.text("token", bytes: APIAct.tokenBytes)))
    }

    // MARK: - Bans

    private func ban(_ body: JSONValue) throws(APIProblem) -> APIAct {
        let fields = try APIFields(body, known: ["seconds", "until", "reason"])
        guard fields.has("seconds") != fields.has("until") else {
            throw APIProblem.invalid(fields.has("until") ? "until" : "seconds", "given, or else until; not both")
        }
        let end: BanEnd =
            if fields.has("seconds") {
                .seconds(try fields.integer("seconds", in: UserBan.seconds))
            } else {
                .time(try fields.integer("until", in: 0...Int(Int32.max) * 1000))
            }
        let reason = fields.has("reason") ? try fields.text("reason", bytes: UserBan.reasonBytes) : ""
        guard !reason.utf8.contains(0) else { throw APIProblem.invalid("reason", "without the NUL character") }
        return .ban(try user(), until: end, reason: reason)
    }

    // MARK: - Attributes

    /// The account that a channel's members see as the one that changed an attribute.
    private static let serverAccount = "server"

    private func userAttribute(_ body: JSONValue?) throws(APIProblem) -> APIAct {
        let (value, expectation) = try change(body)
        let isNew = value != nil
        return .changeUserAttribute(
            ChangeUserAttribute(
                user: try isNew ? newUser() : user(), name: try isNew ? newName() : name(), value: value,
                expectation: expectation))
    }

    private func channelAttribute(_ body: JSONValue?) throws(APIProblem) -> APIAct {
        let (value, expectation) = try change(body)
        let isNew = value != nil
        return .changeChannelAttribute(
            ChangeChannelAttribute(
                channel: try isNew ? newChannel() : ordinaryChannel(),
                account: try APINames.account(Self.serverAccount),
                name: try isNew ? newName() : name(), value: value, expectation: expectation))
    }

    /// The new value, nil for a deletion, and what the attribute must be.
    private func change(_ body: JSONValue?) throws(APIProblem) -> (String?, AttributeExpectation) {
        guard let body else { return (nil, .any) }
        let fields = try APIFields(body, known: ["value", "expected"])
        let value = try fields.text("value", bytes: 0...Limits.attributeValueBytes)
        switch fields["expected"] {
        case nil: return (value, .any)
        case .null?: return (value, .absent)
        default: return (value, .value(try fields.text("expected", bytes: 0...Limits.attributeValueBytes)))
        }
    }

    // MARK: - Messages

    private func sending(_ body: JSONValue) throws(APIProblem) -> APIAct {
        let app = try knownApp()
        switch route {
        case .sendMessage:
            let fields = try APIFields(body, known: ["from", "message", "ttl"])
            let receiver = OutgoingMessage.Receiver.user(try newAccount(), seconds: try Self.seconds(fields))
            return .send(try Self.message(fields, to: receiver, in: app))
        case .sendChannelMessage:
            let fields = try APIFields(body, known: ["from", "message"])
            return .send(try Self.message(fields, to: .channel(try newChannel().name), in: app))
        case .broadcast:
            let fields = try APIFields(body, known: ["from", "message", "ttl", "users"])
            let seconds = try Self.seconds(fields)
            let (sender, text) = (try fields.newAccount("from"), try Self.text(fields))
            var messages: [OutgoingMessage] = []
            for (index, user) in try fields.list("users", count: 1...APIAct.messagesBound).enumerated() {
                let account = try APIFields.newAccount(user, at: "users[\(index)]")
                messages.append(
                    OutgoingMessage(
                        app: app, sender: sender, receiver: .user(account, seconds: seconds), text: text))
            }
            return .sendAll(messages)
        default:
            let fields = try APIFields(body, known: ["items"])
            var messages: [OutgoingMessage] = []
            for (index, item) in try fields.list("items", count: 1...APIAct.messagesBound).enumerated() {
                messages.append(try Self.item(item, at: "items[\(index)]", in: app))
            }
            return .sendAll(messages)
        }
    }

    private static func item(
        _ value: JSONValue, at place: String, in app: AppID
    ) throws(APIProblem) -> OutgoingMessage {
        let fields = try APIFields(value, at: place, known: ["user", "channel", "from", "message", "ttl"])
        guard fields.has("user") != fields.has("channel") else {
            throw APIProblem.invalid(place, "an object with either user or channel")
        }
        guard fields.has("channel") else {
            let receiver = OutgoingMessage.Receiver.user(
                try fields.newAccount("user"), seconds: try seconds(fields))
            return try message(fields, to: receiver, in: app)
        }
        let at = fields.place(of: "channel")
        guard let name = fields["channel"]?.string else { throw APIProblem.invalid(at, "a string") }
        guard !fields.has("ttl") else {
            throw APIProblem.invalid(fields.place(of: "ttl"), "absent: a channel's message does not wait")
        }
        return try message(fields, to: .channel(try APINames.newChannel(name, at: at)), in: app)
    }

    private static func message(
        _ fields: APIFields, to receiver: OutgoingMessage.Receiver, in app: AppID
    ) throws(APIProblem) -> OutgoingMessage {
        OutgoingMessage(app: app, sender: try fields.newAccount("from"), receiver: receiver, text: try text(fields))
    }

    private static func text(_ fields: APIFields) throws(APIProblem) -> String {
        try fields.text("message", bytes: 0...Limits.messageBytes)
    }

    private static func seconds(_ fields: APIFields) throws(APIProblem) -> Int {
        try fields.integer("ttl", in: 0...Limits.messageTimeToLive, standard: Limits.messageTimeToLive)
    }
}
