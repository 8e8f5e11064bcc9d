internal import ArgumentParser
internal import ControlApply
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

        @Option(help: "udp, tcp or tls, at first udp; the default port is 5060, or 5061 for tls.")
        var transport: SIPTransport?

        @Option(help: "The user name for digest authentication and registration.")
        var user: String?

        @Option(help: "Its secret.")
        var secret: String?

        @Option(help: "The domain in From; by default the host.")
        var fromDomain: String?

        @Flag(help: "Register at the peer, and keep the registration up.")
        var register = false

        @Option(help: "How digits are sent: auto, rfc4733 or info; at first auto.")
        var dtmf: SIPTrunk.DTMF?

        @Option(help: "Encrypted media: off, optional or required; at first off.")
        var srtp: SIPTrunk.SRTP?

        @Option(help: "Seconds that a telephone may ring: 1...3600; at first 60.")
        var ring: Int?

        @Flag(help: "Take calls from other addresses that authenticate with the user and the secret.")
        var acceptDigest = false

        @Flag(help: "Log the SIP messages of its calls.")
        var trace = false

        @OptionGroup var phones: PhonePolicyOptions

        @OptionGroup var output: OutputOptions

        func validate() throws {
            do throws(SettingProblem) { try patch.check() } catch { throw ValidationError(error) }
        }

        /// What the options say.
        private var patch: TrunkPatch {
            var patch = TrunkPatch()
            patch.host = address.host
            patch.port = address.port.map { .value($0) } ?? .none
            patch.transport = transport
            if let user { patch.user = .value(user) }
            patch.secret = secret
            if let fromDomain { patch.fromDomain = .value(fromDomain) }
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
                let patch = patch
                try await Database.with { pool in
                    let isOpen = try await AppStore(pool: pool).find(app).map { !$0.tokenRequired } ?? false
                    let trunk = try patch.applied(to: nil, of: app, isOpen: isOpen)
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
