internal import PostgresStore
internal import SignalingProtocol

/// A trunk as commands print it.
struct TrunkOutput: Encodable {
    var acceptDigest: Bool
    /// The prefixes of numbers that may be called; `any` for all.
    var allow: [String]
    var appCalls: Int
    var appCallsPerMinute: Int
    var appId: String
    var assertedIdentity: String?
    /// The numbers that callers may show besides their own; `any` for all.
    var callerId: [String]
    var dtmf: String
    var fromDomain: String?
    var host: String
    /// In seconds.
    var longestCall: Int
    var port: Int
    var privacy: String?
    var register: Bool
    var ringSeconds: Int
    /// Nil unless the command is to show it.
    var secret: String?
    var srtp: String
    var trace: Bool
    var transport: String
    /// In Unix milliseconds.
    var updatedAt: Int64
    var user: String?
    var userCalls: Int
    var userCallsPerMinute: Int

    init(_ trunk: SIPTrunk, withSecret: Bool) {
        acceptDigest = trunk.acceptDigest
        allow = Self.list(trunk.policy.callees, unsaid: trunk.isOfOpenApp ? [] : ["any"])
        appCalls = trunk.policy.callsPerApp
        appCallsPerMinute = trunk.policy.newCallsPerApp
        assertedIdentity = trunk.assertedIdentity
        callerId = Self.list(trunk.policy.callers, unsaid: [])
        longestCall = trunk.policy.longestCall
        privacy = trunk.privacy
        userCalls = trunk.policy.callsPerUser
        userCallsPerMinute = trunk.policy.newCallsPerUser
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

    private static func list(_ numbers: PhonePolicy.Numbers, unsaid: [String]) -> [String] {
        switch numbers {
        case .unsaid: unsaid
        case .any: ["any"]
        case .listed(let numbers): numbers
        }
    }

    /// The trunk as one line of text.
    var line: String {
        let fields: [String?] = [
            appId, "\(transport) \(host):\(port)", user.map { "user \($0)" }, secret.map { "secret \($0)" },
            fromDomain.map { "from \($0)" }, register ? "registers" : nil, "dtmf \(dtmf)", "srtp \(srtp)",
            "rings \(ringSeconds) s", "allow \(allow.isEmpty ? "none" : allow.joined(separator: ","))",
            callerId.isEmpty ? nil : "caller-id \(callerId.joined(separator: ","))",
            "calls \(userCalls)/user \(appCalls)/app",
            "new calls \(userCallsPerMinute)/user/min \(appCallsPerMinute)/app/min", "lasts \(longestCall) s",
            assertedIdentity.map { "asserts \($0)" }, privacy.map { "privacy \($0)" },
            acceptDigest ? "accepts digest" : nil, trace ? "traced" : nil,
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
    /// In Unix milliseconds.
    var createdAt: Int64
    var number: String

    init(_ number: SIPNumber) {
        account = number.user.account.rawValue
        appId = number.user.app.rawValue
        createdAt = number.createdAt
        self.number = number.number
    }

    /// The number as one line of text.
    var line: String {
        "\(number)  app \(appId)  account \(account)  created \(Output.time(milliseconds: createdAt))"
    }
}
