internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

extension ClientNetwork: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// `heliographctl address ...`.
struct AddressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address", abstract: "Bans networks of client addresses, and lists them.",
        discussion: """
            Bans hold at all gateways, for all apps, a few seconds after they were made. They are written to PostgreSQL alone.
            """,
        subcommands: [Ban.self, Unban.self, Bans.self])

    struct Ban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keeps clients of a network from connecting for a time, and ends their connections.",
            discussion:
                "Sessions end as those of clients that have lost their connections. A ban replaces an earlier one."
        )

        @Argument(help: "Such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/48: /8 to /32, or /16 to /128.")
        var network: ClientNetwork

        @OptionGroup var ban: BanOptions

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let store = AddressBanStore(pool: pool)
                    guard let made = try await store.set(network, until: ban.end, reason: ban.reason) else {
                        throw Failure.refused("at most \(AddressBan.bound) networks are banned at a time")
                    }
                    output.show(AddressBanOutput(made))
                }
            }
        }
    }

    struct Unban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ends the ban of a network.")

        @Argument(help: "The network, as it was banned.")
        var network: ClientNetwork

        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    guard try await AddressBanStore(pool: pool).lift(network) else {
                        throw Failure.refused("\(network.text) is not banned")
                    }
                    output.show(
                        Outcome(
                            deed: "unbanned", subject: network.text, line: "clients of \(network.text) may connect"))
                }
            }
        }
    }

    struct Bans: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the banned networks.")

        @Option(help: "How many at most: 1 to 1000.")
        var limit = 100

        @Option(help: "Begin after this network: the `next` of the page before.")
        var after: ClientNetwork?

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...PageOptions.bound).contains(limit) else {
                throw ValidationError("--limit must be 1...\(PageOptions.bound)")
            }
        }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    let found = try await AddressBanStore(pool: pool).page(after: after, limit: limit + 1)
                    let records = found.prefix(limit).map { AddressBanOutput($0).record }
                    output.show(
                        Page(
                            name: "bans", records: records,
                            next: found.count > limit ? found[limit - 1].network.text : nil))
                }
            }
        }
    }
}

/// A ban as commands print it.
private struct AddressBanOutput: PrintableRecord {
    private let ban: AddressBan

    init(_ ban: AddressBan) { self.ban = ban }

    var record: Record { Record(json: .object(members), line: line) }

    var members: [JSONMember] {
        [
            JSONMember("network", ban.network.text), JSONMember("reason", ban.reason),
            // In Unix seconds.
            JSONMember("until", ban.until), JSONMember("createdAt", ban.createdAt),
        ]
    }

    var line: String {
        "\(ban.network.text)  until \(Output.time(milliseconds: ban.until * 1000))"
            + (ban.reason.isEmpty ? "" : "  \(ban.reason.visible)")
    }
}
