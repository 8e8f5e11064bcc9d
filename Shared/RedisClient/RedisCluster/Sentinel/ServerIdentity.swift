/// The server at one end of a link, as its reply to INFO shows it when the link is opened.
package struct ServerIdentity: Sendable, Equatable {
    let role: ServerRole
    /// Chosen by the server at each start.
    let runID: String
    /// Names the history of writes that the server continues. A replica has its master's, until it is promoted.
    var history = ""
    /// The history that the server continued before it became a master; of a server that was
    /// never a replica, no history at all.
    var formerHistory = ""
    /// Whether the server refuses writes when too few replicas are connected (`min-replicas-to-write`).
    var needsReplicas = false

    /// Asks for what ``init(info:)`` reads. INFO rather than ROLE, whose reply a subscriber would take for a message.
    package static let command = RedisCommand("INFO", "server", "replication")

    init(
        role: ServerRole, runID: String, history: String = "", formerHistory: String = "", needsReplicas: Bool = false
    ) {
        self.role = role
        self.runID = runID
        self.history = history
        self.formerHistory = formerHistory
        self.needsReplicas = needsReplicas
    }

    /// Reads the reply to ``command``.
    /// - Throws: code `SHAPE`.
    package init(info reply: RedisValue) throws(RedisError) {
        guard let text = reply.string else { throw .shape("the reply to INFO") }
        var fields: [Substring: Substring] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        guard let runID = fields["run_id"], !runID.isEmpty else { throw .shape("the reply to INFO") }
        let role: ServerRole
        switch fields["role"] {
        case "master": role = .master
        case "slave":
            guard let host = fields["master_host"], let port = fields["master_port"].flatMap({ Int($0) }) else {
                throw .shape("the reply to INFO")
            }
            role = .replica(of: NodeAddress(host: String(host), port: port))
        default:
            guard fields["redis_mode"] == "sentinel" else { throw .shape("the reply to INFO") }
            role = .sentinel
        }
        self.init(
            role: role, runID: String(runID), history: fields["master_replid"].map { String($0) } ?? "",
            formerHistory: fields["master_replid2"].map { String($0) } ?? "",
            needsReplicas: fields["min_slaves_good_slaves"] != nil)
    }

    /// Why a link to a master must not be used; nil when it may. A former master takes writes, and loses them, until
    /// Sentinel has made it a replica.
    var refusal: RedisError? {
        switch role {
        case .master: nil
        case .replica(let master):
            RedisError(code: .readOnly, message: "the server is a replica of \(master), not the master")
        case .sentinel: RedisError(code: .flavour, message: "the server is a Sentinel, not a master")
        }
    }

    /// Whether this server, when it took the place of another master, had that one's data. A replica that has never
    /// synchronised can be promoted too; it is empty.
    func continues(_ former: ServerIdentity) -> Bool {
        runID == former.runID || history == former.history || formerHistory == former.history
    }
}
