internal import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

/// The arguments of a request, which the row of its operation checks.
struct APIArguments {
    /// The parameters of the path, by name.
    let path: [String: String]
    /// The parameters after the question mark.
    let query: APIQuery
    /// `null` when the operation has none.
    let body: JSONValue
    /// The header `Last-Event-ID`.
    let lastEventID: String?

    /// The members of the body, which is an object.
    /// - Parameter known: the names that they may have.
    func fields(_ known: String...) throws(APIProblem) -> APIFields { try APIFields(body, known: known) }

    // MARK: - Names of the path

    /// A parameter of the path, which the operation's template has.
    func text(_ name: String) -> String { path[name] ?? "" }

    func app() throws(APIProblem) -> AppID { try APINames.app(text("app")) }

    func account() throws(APIProblem) -> Account { try APINames.account(text("account")) }

    /// An account that need not exist yet.
    func newAccount() throws(APIProblem) -> Account { try APINames.newAccount(text("account")) }

    func user() throws(APIProblem) -> UserKey { UserKey(app: try app(), account: try account()) }

    /// A user that need not exist yet.
    func newUser() throws(APIProblem) -> UserKey { UserKey(app: try app(), account: try newAccount()) }

    /// The name of an attribute.
    func name() throws(APIProblem) -> AttributeName { try APINames.attribute(text("name")) }

    /// The name of an attribute to set.
    func newName() throws(APIProblem) -> AttributeName { try APINames.newAttribute(text("name")) }

    func channel() throws(APIProblem) -> ChannelKey {
        ChannelKey(app: try app(), name: try APINames.channel(text("channel")))
    }

    /// A channel, which need not exist yet, in which a server may speak.
    func newChannel() throws(APIProblem) -> ChannelKey {
        ChannelKey(app: try app(), name: try APINames.newChannel(text("channel")))
    }

    /// A channel other than the special ones.
    func ordinaryChannel() throws(APIProblem) -> ChannelKey {
        ChannelKey(app: try app(), name: try APINames.ordinaryChannel(text("channel")))
    }

    /// The app after the question mark; nil where it is missing.
    func queriedApp() throws(APIProblem) -> AppID? {
        guard let name = try query.text("app", bytes: 1...Limits.appIDBytes) else { return nil }
        return try APINames.app(name)
    }

    // MARK: - Pages

    /// A page of a list.
    func page(_ list: ListRecords.List, of app: AppID?) throws(APIProblem) -> ListRecords {
        ListRecords(
            list, app: app, prefix: try query.text("prefix", bytes: APIAct.prefixBytes) ?? "",
            after: try query.text("after", bytes: APIAct.positionBytes) ?? "",
            limit: try query.integer("limit", in: APIAct.pageRecords, standard: 100))
    }

    /// The id of a position in a list by time; nil unless the text is a time in microseconds that PostgreSQL knows, a
    /// dot, and an id.
    static func id(ofPosition text: String) -> Substring? {
        guard let dot = text.firstIndex(of: "."), let time = Int64(text[..<dot]),
            (0...253_402_300_799_999_999).contains(time)
        else { return nil }
        return text[text.index(after: dot)...]
    }
}
