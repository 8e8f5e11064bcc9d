internal import PostgresStore
internal import SignalingProtocol

/// A trunk as commands print it.
struct TrunkOutput: Encodable {
    var acceptDigest: Bool
    var appId: String
    var dtmf: String
    var fromDomain: String?
    var host: String
    var port: Int
    var register: Bool
    var ringSeconds: Int
    /// Only where it was asked for.
    var secret: String?
    var srtp: String
    var trace: Bool
    var transport: String
    /// Unix milliseconds.
    var updatedAt: Int64
    var user: String?

    init(_ trunk: SIPTrunk, withSecret: Bool) {
        acceptDigest = trunk.acceptDigest
        appId = trunk.app.rawValue
        dtmf = trunk.dtmf.rawValue
        fromDomain = trunk.fromDomain
        host = trunk.host
        port = trunk.port
        register = trunk.register
        ringSeconds = trunk.ringSeconds
        secret = withSecret ? trunk.secret : nil
        srtp = trunk.srtp.rawValue
        self.trace = trunk.trace
        transport = trunk.transport.rawValue
        updatedAt = trunk.updatedAt
        user = trunk.authUser
    }

    /// One line for people.
    var line: String {
        let fields: [String?] = [
            appId, "\(transport) \(host):\(port)", user.map { "user \($0)" }, secret.map { "secret \($0)" },
            fromDomain.map { "from \($0)" }, register ? "registers" : nil, "dtmf \(dtmf)", "srtp \(srtp)",
            "rings \(ringSeconds) s", acceptDigest ? "accepts digest" : nil, trace ? "traced" : nil,
            "set \(Output.time(milliseconds: updatedAt))",
        ]
        return fields.compactMap(\.self).joined(separator: "  ")
    }

    func show(_ options: OutputOptions) throws {
        if options.json { try Output.json(self) } else { print(line) }
    }
}

/// A number as commands print it.
struct NumberOutput: Encodable {
    var account: String
    var appId: String
    /// Unix milliseconds.
    var createdAt: Int64
    var number: String

    init(_ number: SIPNumber) {
        account = number.user.account.rawValue
        appId = number.user.app.rawValue
        createdAt = number.createdAt
        self.number = number.number
    }

    /// One line for people.
    var line: String {
        "\(number)  app \(appId)  account \(account)  created \(Output.time(milliseconds: createdAt))"
    }
}
