internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol

/// `heliographctl trunk ...`.
struct TrunkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trunk", abstract: "Sets, shows, lists and removes apps' SIP trunks.",
        subcommands: [
            Set.self, ShowSetting<SIPTrunk>.self, ListSettings<SIPTrunk>.self, RemoveSetting<SIPTrunk>.self,
        ])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets an app's trunk, replacing the one it had: options that are not given get their defaults.",
            discussion: "Bridges apply it to new calls within about a second.")

        @Argument(help: "The app.")
        var app: AppID

        @Argument(help: "HOST or HOST:PORT of the SIP peer; [ADDRESS]:PORT for IPv6.")
        var address: SIPAddressArgument

        @Option(help: "udp, tcp or tls; the default port is 5060, or 5061 for tls.")
        var transport = SIPTransport.udp

        @Option(help: "The user name for digest authentication and registration.")
        var user: String?

        @Option(help: "Its secret.")
        var secret: String?

        @Option(help: "The domain in From; by default the host.")
        var fromDomain: String?

        @Flag(help: "Register at the peer, and keep the registration up.")
        var register = false

        @Option(help: "How digits are sent: auto, rfc4733 or info.")
        var dtmf = SIPTrunk.DTMF.auto

        @Option(help: "Encrypted media: off, optional or required.")
        var srtp = SIPTrunk.SRTP.off

        @Option(help: "Seconds that a telephone may ring: 1...3600.")
        var ring = 60

        @Flag(help: "Take calls from other addresses that authenticate with the user and the secret.")
        var acceptDigest = false

        @Flag(help: "Log the SIP messages of its calls.")
        var trace = false

        @OptionGroup var phones: PhonePolicyOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...3600).contains(ring) else { throw ValidationError("--ring must be 1...3600") }
            guard (user == nil) == (secret == nil) else {
                throw ValidationError("--user and --secret must be given together")
            }
            guard user != nil || !(register || acceptDigest) else {
                throw ValidationError("--register and --accept-digest require --user and --secret")
            }
            for text in [user, secret, fromDomain].compactMap(\.self) {
                guard (1...128).contains(text.utf8.count), text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                    throw ValidationError(
                        "--user, --secret and --from-domain must have 1 to 128 bytes and no control characters")
                }
            }
        }

        /// The trunk as the options describe it.
        private var trunk: SIPTrunk {
            var trunk = SIPTrunk(app: app, host: address.host, port: address.port, transport: transport)
            trunk.authUser = user
            trunk.secret = secret
            trunk.fromDomain = fromDomain
            trunk.register = register
            trunk.dtmf = dtmf
            trunk.srtp = srtp
            trunk.ringTime = .seconds(ring)
            trunk.acceptDigest = acceptDigest
            trunk.trace = trace
            trunk.assertedIdentity = phones.assertedIdentity
            trunk.privacy = phones.privacy
            trunk.policy = phones.policy
            return trunk
        }

        func run() async throws {
            try await Failure.reported {
                let trunk = trunk
                try await Database.with { pool in
                    // Anyone who knows the app's id can log in to it and could call at the trunk owner's expense.
                    if !phones.saysWhom, let app = try await AppStore(pool: pool).find(app), !app.tokenRequired {
                        throw TrunkCommand.openApp(app.id)
                    }
                    do {
                        try await TrunkStore(pool: pool).set(trunk)
                    } catch let error as PostgresError where error.isMissingReference {
                        throw AppCommand.unknown(app)
                    }
                    output.show(try await SIPTrunk.existing(app, in: pool).output(withSecret: false))
                }
            }
        }
    }

    static func openApp(_ app: AppID) -> Failure {
        .refused(
            "the app \(app) takes logins without a token: say whom its users may call, by --allow START, --allow any "
                + "or --allow none"
        )
    }
}

extension SIPTrunk: AppSetting {
    static var name: String { "trunk" }
    static var plural: String { "trunks" }
    static var shows: String { "Shows an app's trunk." }
    static var removes: String { "Removes an app's trunk: its calls to telephones fail from then on." }

    static func all(in pool: PostgresPool) async throws -> [Self] { try await TrunkStore(pool: pool).list() }

    static func find(_ app: AppID, in pool: PostgresPool) async throws -> Self? {
        try await TrunkStore(pool: pool).find(app)
    }

    static func remove(_ app: AppID, in pool: PostgresPool) async throws -> Bool {
        try await TrunkStore(pool: pool).remove(app)
    }

    func output(withSecret: Bool) -> TrunkOutput { TrunkOutput(self, withSecret: withSecret) }
}
