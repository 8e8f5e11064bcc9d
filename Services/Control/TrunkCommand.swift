internal import ArgumentParser
internal import PostgresStore
internal import Provisioning
internal import SignalingProtocol

/// `heliographctl trunk ...`.
struct TrunkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trunk", abstract: "Sets, shows, lists and removes apps' SIP trunks.",
        subcommands: [
            Set.self, ShowSetting<TrunkRecord>.self, ListSettings<TrunkRecord>.self, RemoveSetting<TrunkRecord>.self,
        ])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an app's trunk. Bridges apply it to new calls within about a second.",
            discussion: "Set it again to change it: what is not named stays as it was.")

        @Argument(help: "The app.")
        var app: AppID

        @Argument(
            help: """
                HOST or HOST:PORT of the SIP peer; [ADDRESS]:PORT for IPv6. A new trunk needs it. Without PORT it is 5060, \
                or 5061 for tls.
                """)
        var address: SIPAddressArgument?

        @Option(help: "udp, tcp or tls, at first udp. The port stays, unless HOST is named too.")
        var transport: SIPTransport?

        @Option(help: "The user name for digest authentication and registration.")
        var user: String?

        @Flag(help: "No user, and no secret.")
        var noUser = false

        @Option(help: "The user's secret.")
        var secret: String?

        @Option(help: "The domain in From; at first the host.")
        var fromDomain: String?

        @Flag(help: "The host in From.")
        var noFromDomain = false

        @Flag(inversion: .prefixedNo, help: "Register at the peer, and keep the registration up.")
        var register: Bool?

        @Option(help: "How digits are sent: auto, rfc4733 or info; at first auto.")
        var dtmf: SIPTrunk.DTMF?

        @Option(help: "Encrypted media: off, optional or required; at first off.")
        var srtp: SIPTrunk.SRTP?

        @Option(help: "Seconds that a telephone may ring: 1...3600; at first 60.")
        var ring: Int?

        @Flag(
            inversion: .prefixedNo,
            help: "Take calls from other addresses that authenticate with the user and the secret.")
        var acceptDigest: Bool?

        @Flag(inversion: .prefixedNo, help: "Log the SIP messages of its calls.")
        var trace: Bool?

        @OptionGroup var phones: PhonePolicyOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            try Self.refuseBoth(user, noUser, "user")
            try Self.refuseBoth(fromDomain, noFromDomain, "from-domain")
            do throws(SettingProblem) { try patch.check() } catch { throw ValidationError(error) }
        }

        /// Refuses an option together with the flag that takes its value back.
        static func refuseBoth(_ value: (some Any)?, _ isTakenBack: Bool, _ name: String) throws {
            guard value == nil || !isTakenBack else { throw ValidationError("give --\(name) or --no-\(name)") }
        }

        /// What the options say.
        private var patch: TrunkPatch {
            var patch = TrunkPatch()
            if let address {
                patch.host = address.host
                patch.port = Named(address.port, isTakenBack: address.port == nil)
            }
            patch.transport = transport
            patch.user = Named(user, isTakenBack: noUser)
            patch.secret = secret
            patch.fromDomain = Named(fromDomain, isTakenBack: noFromDomain)
            patch.registers = register
            patch.dtmf = dtmf
            patch.srtp = srtp
            patch.ring = ring
            patch.acceptsDigest = acceptDigest
            patch.traces = trace
            phones.add(to: &patch)
            return patch
        }

        func run() async throws {
            try await Failure.reported {
                try await Database.with { pool in
                    do {
                        // Whether the app is open decides what the trunk has to say.
                        try await pool.changing(["apps", "sip_trunks"]) { transaction in
                            let record = try await AppStore(pool: transaction).find(app)
                            let trunk = try patch.applied(
                                to: try await TrunkStore(pool: transaction).find(app), of: app,
                                isOpen: record.map { !$0.tokenRequired } ?? false)
                            try await TrunkStore(pool: transaction).set(trunk)
                        }
                    } catch let error as PostgresError where error.isMissingReference {
                        throw AppCommand.unknown(app)
                    }
                    output.show(try await TrunkRecord.existing(app, in: pool).output(withSecret: false))
                }
            }
        }
    }
}

extension Named {
    /// What an option says, and the flag that takes its value back.
    init(_ value: Value?, isTakenBack: Bool) {
        self = if let value { .value(value) } else { isTakenBack ? .none : .unsaid }
    }
}

/// A trunk, and how sip-bridges are registered there.
struct TrunkRecord: AppSetting {
    let trunk: SIPTrunk
    let registrations: [SIPRegistration]

    static var name: String { "trunk" }
    static var plural: String { "trunks" }
    static var shows: String { "Shows an app's trunk, and whether sip-bridges are registered there." }
    static var removes: String { "Removes an app's trunk: its calls to telephones fail from then on." }

    static func all(in pool: PostgresPool) async throws(PostgresError) -> [Self] {
        let registrations = Dictionary(grouping: try await RegistrationStore(pool: pool).list(), by: \.app)
        return try await TrunkStore(pool: pool).list().map {
            TrunkRecord(trunk: $0, registrations: registrations[$0.app] ?? [])
        }
    }

    static func find(_ app: AppID, in pool: PostgresPool) async throws -> Self? {
        guard let trunk = try await TrunkStore(pool: pool).find(app) else { return nil }
        return TrunkRecord(trunk: trunk, registrations: try await RegistrationStore(pool: pool).list(app: app))
    }

    static func remove(_ app: AppID, in pool: PostgresPool) async throws -> Bool {
        try await TrunkStore(pool: pool).remove(app)
    }

    func output(withSecret: Bool) -> TrunkOutput { TrunkOutput(self, withSecret: withSecret) }
}
