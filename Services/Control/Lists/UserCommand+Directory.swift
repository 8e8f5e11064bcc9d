internal import ArgumentParser
internal import PostgresStore
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
                try await Database.withDirectory(of: app) { directory in
                    let found = try await directory.onlineUsers(paging.page, gateway: gateway)
                    output.show(Page("users", found, limit: paging.limit, position: \.account))
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows a user: session, channels and attributes.",
            discussion: "From PostgreSQL, whose copies of sessions and members are usually less than a second behind.")

        @OptionGroup var user: UserOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.withDirectory(of: user.app) { directory in
                    guard let found = try await directory.user(user.account) else {
                        throw Failure.refused("\(user.account) has never logged in to \(user.app)")
                    }
                    output.show(found)
                }
            }
        }
    }
}

extension OnlineUser: PrintableRecord {
    var members: [JSONMember] {
        [
            JSONMember("account", account), JSONMember("uid", uid),
            JSONMember("gateway", gateway), JSONMember("device", device),
            JSONMember("state", state), JSONMember("since", time: since),
        ]
    }

    var line: String { "\(account)  uid \(uid)  \(place)" }

    fileprivate var place: String {
        "\(state) at \(gateway) since \(Output.time(milliseconds: since.milliseconds))"
            + (device.isEmpty ? "" : "  \(device.visible)")
    }
}

extension KnownUser: Printable {
    var members: [JSONMember] {
        [
            JSONMember("account", account), JSONMember("uid", uid),
            JSONMember("firstSeen", time: firstSeen), JSONMember("lastSeen", time: lastSeen),
            JSONMember("session", session?.json ?? .null),
            JSONMember("channels", .array(channels.map { .string($0) })),
            JSONMember("attributes", attributes.json),
        ]
    }

    var lines: [String] {
        [
            "account     \(account)", "uid         \(uid)",
            "first seen  \(Output.time(milliseconds: firstSeen.milliseconds))",
            "last seen   \(Output.time(milliseconds: lastSeen.milliseconds))",
            "session     \(session.map(\.place) ?? "none")",
        ] + channels.map { "channel     \($0.visible)" } + attributes.lines
    }
}

extension [Attribute] {
    /// An object with the attributes as members.
    var json: JSONValue {
        .object(map { JSONMember($0.name.rawValue, $0.value) }.sorted { $0.name < $1.name })
    }

    var lines: [String] { map { "attribute   \($0.name.rawValue.visible) = \($0.value.visible)" } }
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
