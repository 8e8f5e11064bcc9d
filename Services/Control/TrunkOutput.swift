internal import PostgresStore
internal import SignalingProtocol
internal import SignalingWire

/// A trunk as commands print it.
struct TrunkOutput: PrintableRecord {
    private let trunk: SIPTrunk
    private let registrations: [SIPRegistration]
    /// Nil unless the command is to show it.
    private let secret: String?

    init(_ record: TrunkRecord, withSecret: Bool) {
        trunk = record.trunk
        registrations = record.registrations
        secret = withSecret ? trunk.secret : nil
    }

    var members: [JSONMember] {
        let policy = trunk.policy
        let texts: [(String, String?)] = [
            ("appId", trunk.app.rawValue), ("assertedIdentity", trunk.assertedIdentity), ("dtmf", trunk.dtmf.rawValue),
            ("fromDomain", trunk.fromDomain), ("host", trunk.host), ("privacy", trunk.privacy), ("secret", secret),
            ("srtp", trunk.srtp.rawValue), ("transport", trunk.transport.rawValue), ("user", trunk.authUser),
        ]
        let flags = [("acceptDigest", trunk.acceptDigest), ("register", trunk.register), ("trace", trunk.trace)]
        let numbers: [(String, Int)] = [
            ("appCalls", policy.callsPerApp), ("appCallsPerMinute", policy.newCallsPerApp),
            ("longestCall", Self.seconds(policy.longestCall)), ("ringSeconds", Self.seconds(trunk.ringTime)),
            ("port", trunk.port), ("userCalls", policy.callsPerUser), ("userCallsPerMinute", policy.newCallsPerUser),
        ]
        var members = texts.compactMap { name, text in text.map { JSONMember(name, $0) } }
        members += flags.map { JSONMember($0, $1) }
        members += numbers.map { JSONMember($0, $1) }
        members += [("allow", allow), ("callerId", callerID)].map { name, list in
            JSONMember(name, .array(list.map { .string($0) }))
        }
        members.append(JSONMember("registrations", .array(registrations.map { .object($0.members) })))
        // In Unix milliseconds.
        members.append(JSONMember("updatedAt", trunk.updatedAt))
        return members
    }

    private static func seconds(_ duration: Duration) -> Int { Int(duration.components.seconds) }

    var line: String {
        let policy = trunk.policy
        let fields: [String?] = [
            trunk.app.rawValue, "\(trunk.transport.rawValue) \(trunk.host):\(trunk.port)",
            trunk.authUser.map { "user \($0)" }, secret.map { "secret \($0)" },
            trunk.fromDomain.map { "from \($0)" }, trunk.register ? "registers" : nil, "dtmf \(trunk.dtmf.rawValue)",
            "srtp \(trunk.srtp.rawValue)", "rings \(Self.seconds(trunk.ringTime)) s",
            "allow \(allow.isEmpty ? "none" : allow.joined(separator: ","))",
            callerID.isEmpty ? nil : "caller-id \(callerID.joined(separator: ","))",
            "calls \(policy.callsPerUser)/user \(policy.callsPerApp)/app",
            "new calls \(policy.newCallsPerUser)/user/min \(policy.newCallsPerApp)/app/min",
            "lasts \(Self.seconds(policy.longestCall)) s",
            trunk.assertedIdentity.map { "asserts \($0)" }, trunk.privacy.map { "privacy \($0)" },
            trunk.acceptDigest ? "accepts digest" : nil, trunk.trace ? "traced" : nil,
            "set \(Output.time(milliseconds: trunk.updatedAt))",
        ]
        return (fields.compactMap(\.self) + registrations.map(\.line)).joined(separator: "  ")
    }

    /// The prefixes of numbers that may be called; `any` for all.
    private var allow: [String] { Self.list(trunk.policy.callees, unsaid: trunk.isOfOpenApp ? [] : ["any"]) }

    /// The numbers that callers may show besides their own; `any` for all.
    private var callerID: [String] { Self.list(trunk.policy.callers, unsaid: []) }

    private static func list(_ numbers: PhonePolicy.Numbers, unsaid: [String]) -> [String] {
        switch numbers {
        case .unsaid: unsaid
        case .any: ["any"]
        case .listed(let numbers): numbers
        }
    }
}

extension SIPRegistration {
    fileprivate var members: [JSONMember] {
        [
            // In Unix milliseconds.
            JSONMember("bridge", bridge), JSONMember("since", since), JSONMember("state", state.rawValue),
            JSONMember("status", status), JSONMember("until", until),
        ]
    }

    fileprivate var line: String { "\(bridge) \(standing)" }

    /// How it stands, as a predicate of the bridge.
    var standing: String {
        let since = "since \(Output.time(milliseconds: since))"
        switch state {
        case .registered:
            return "is registered \(since)" + (until.map { ", until \(Output.time(milliseconds: $0))" } ?? "")
        case .refused: return "was refused" + (status.map { " with \($0)" } ?? "") + ", \(since)"
        case .unanswered: return "has no answer, \(since)"
        }
    }
}

/// A number as commands print it.
struct NumberOutput: PrintableRecord {
    private let number: SIPNumber

    init(_ number: SIPNumber) { self.number = number }

    var members: [JSONMember] {
        [
            JSONMember("account", number.user.account.rawValue),
            JSONMember("appId", number.user.app.rawValue),
            // In Unix milliseconds.
            JSONMember("createdAt", number.createdAt),
            JSONMember("number", number.number),
        ]
    }

    private static func seconds(_ duration: Duration) -> Int { Int(duration.components.seconds) }

    var line: String {
        "\(number.number)  app \(number.user.app)  account \(number.user.account)  "
            + "created \(Output.time(milliseconds: number.createdAt))"
    }
}
