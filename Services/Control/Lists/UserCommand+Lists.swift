internal import ArgumentParser
internal import BusProtocol
internal import ClusterState
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

extension UserCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the users of an app who have a session, by account.",
            discussion: "From PostgreSQL's copy of the sessions, usually less than a second behind.")

        @Option(help: "The app.")
        var app: AppID

        @Option(help: "Only those at gateways whose ids begin with this.")
        var gateway = ""

        @OptionGroup var paging: PageOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard gateway.utf8.count <= 200, !gateway.utf8.contains(0) else {
                throw ValidationError("--gateway may have up to 200 bytes")
            }
        }

        func run() async throws {
            try await Failure.reported {
                var filter = RecordFilter()
                filter.gateway = gateway
                try await Database.withRecords(of: app) { [filter] records in
                    output.show(
                        try await records.page(.online, paging, matching: filter) { user in
                            "\(user.visible("account") ?? "")  uid \(user.number("uid") ?? 0)  \(user.place)"
                        })
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a user: session, channels and attributes.",
            discussion: """
                From PostgreSQL, whose copies of sessions and members are usually less than a second behind. Only Redis has the \
                address of a session (HELIOGRAPH_REDIS_URL, default \(ControlRedis.standardURL)).
                """)

        @OptionGroup var user: UserOptions

        @Flag(help: "Also the address that the session comes from, as Redis has it.")
        var address = false

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.withRecords(of: user.app) { records in
                    guard let found = try await records.store.user(user.key) else {
                        throw Failure.refused("\(user.account) has never logged in to \(user.app)")
                    }
                    var shown = ShownUser(record: Record(json: try JSONValue.parse(found.utf8), line: ""))
                    if address {
                        shown.showsAddress = true
                        shown.address = try await sessionAddress()
                    }
                    output.show(shown)
                }
            }
        }

        /// Nil without a session, and where its gateway does not tell it.
        private func sessionAddress() async throws -> String? {
            try await ControlRedis.withConnection { connection -> String? in
                let reply = try await connection.execute(
                    RedisCommand("HGET", key: UserKeys(user.key).session, arguments: [.string("address")]))
                return reply.string.flatMap { $0.isEmpty ? nil : $0 }
            }
        }
    }
}

/// A user as `user show` prints it.
private struct ShownUser: Printable {
    let record: Record
    /// Whether the address is shown.
    var showsAddress = false
    /// The address that the session comes from; nil when it is not known.
    var address: String?

    var members: [JSONMember] { record.members + (showsAddress ? [JSONMember("address", address)] : []) }

    var lines: [String] {
        let user = record.json
        var channels: [String] = []
        if case .array(let names)? = user["channels"] { channels = names.compactMap(\.string) }
        let addresses = showsAddress ? ["address     \(address?.visible ?? "not known")"] : []
        return [
            "account     \(user.visible("account") ?? "")", "uid         \(user.number("uid") ?? 0)",
            "first seen  \(user.time("firstSeen") ?? "")", "last seen   \(user.time("lastSeen") ?? "")",
            "session     \(user.place)",
        ] + addresses + channels.map { "channel     \($0.visible)" } + user.attributeLines
    }
}

extension JSONValue {
    /// Where a user's session is: `connected at GATEWAY since TIME`; `offline` without one.
    fileprivate var place: String {
        let (state, device) = (visible("state") ?? "", visible("device") ?? "")
        guard let gateway = visible("gateway"), let since = time("since") else { return state }
        return "\(state) at \(gateway) since \(since)" + (device.isEmpty ? "" : "  \(device)")
    }

    /// A line for each of a record's `attributes`.
    var attributeLines: [String] {
        guard case .object(let attributes)? = self["attributes"] else { return [] }
        return attributes.map { "attribute   \($0.name.visible) = \($0.value.string?.visible ?? "")" }
    }
}

extension String {
    /// The text without what would do something to a terminal: control characters become `\u{...}`.
    var visible: String {
        guard unicodeScalars.contains(where: \.isUnsafe) else { return self }
        return unicodeScalars.map { scalar in
            scalar.isUnsafe ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether a terminal acts on it, or shows what follows in another order.
    fileprivate var isUnsafe: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
