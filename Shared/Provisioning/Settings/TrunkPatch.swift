package import PostgresStore
package import SignalingProtocol
internal import SignalingWire

/// What is to be changed of a trunk; what is nil or not said stays.
package struct TrunkPatch: Equatable, Sendable {
    /// Seconds that a telephone may ring.
    package static let ringSeconds = 1...3600
    static let textBytes = 1...128

    /// The peer's host name or address; a new trunk needs it.
    package var host: String?
    /// Its port; none: the transport's.
    package var port = Named<Int>.unsaid
    /// The transport of SIP messages.
    package var transport: SIPTransport?
    /// The user for authentication; none: without, and without a secret.
    package var user = Named<String>.unsaid
    /// The user's secret.
    package var secret: String?
    /// The domain in From; none: the host.
    package var fromDomain = Named<String>.unsaid
    /// Whether to register.
    package var registers: Bool?
    /// How digits are sent.
    package var dtmf: SIPTrunk.DTMF?
    /// Whether media is encrypted.
    package var srtp: SIPTrunk.SRTP?
    /// Seconds that a telephone may ring.
    package var ring: Int?
    /// Whether other addresses may authenticate.
    package var acceptsDigest: Bool?
    /// Whether messages are logged.
    package var traces: Bool?
    /// P-Asserted-Identity.
    package var assertedIdentity = Named<String>.unsaid
    /// Privacy.
    package var privacy = Named<String>.unsaid
    /// The rules for calls.
    package var policy = PhonePolicyPatch()

    /// Changes nothing.
    package init() {}

    /// Whether a text can be a peer's host: 1 to 253 letters, digits, and `. - :`.
    package static func isHost(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { isAlphanumeric($0) || ".-:".utf8.contains($0) }
    }

    /// Whether a text can be a telephone number in a SIP request: 1 to 64 letters, digits, or `+ * # - . _`.
    package static func isNumber(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { isAlphanumeric($0) || "+*#-._".utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// Checks each value by itself.
    package func check() throws(SettingProblem) {
        try Rule.check(host, of: "host", "must have 1 to 253 letters, digits or .-:", Self.isHost)
        try Rule.check(port.given, of: "port", in: 1...65_535)
        try Rule.check(ring, of: "ringSeconds", in: Self.ringSeconds)
        let plain = "must have 1 to 128 bytes and no control characters"
        try Rule.check(user.given, of: "user", plain, Self.isPlain)
        try Rule.check(fromDomain.given, of: "fromDomain", plain, Self.isPlain)
        if let secret, !Self.isPlain(secret) { throw SettingProblem("secret", plain) }
        for (name, named) in [("assertedIdentity", assertedIdentity), ("privacy", privacy)] {
            try Rule.check(
                named.given, of: name, "must have 1 to 128 visible characters other than <>\"", Self.isHeader)
        }
        try policy.check()
    }

    private static func isPlain(_ text: String) -> Bool {
        textBytes.contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }

    private static func isHeader(_ text: String) -> Bool {
        textBytes.contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"<>\"".utf8.contains($0) }
    }

    /// The trunk after the change.
    /// - Parameters:
    ///   - former: the trunk before; nil for a new one.
    ///   - isOpen: whether the app takes logins without a token: then it has to be said whom users may call, because
    ///     anyone who knows the app's id could call at the trunk owner's expense.
    /// - Throws: ``SettingProblem`` when values do not go together.
    package func applied(to former: SIPTrunk?, of app: AppID, isOpen: Bool) throws(SettingProblem) -> SIPTrunk {
        guard let host = host ?? former?.host else { throw SettingProblem("host", "is needed for a new trunk") }
        let transport = transport ?? former?.transport ?? .udp
        var trunk = former ?? SIPTrunk(app: app, host: host, port: port.given, transport: transport)
        trunk.host = host
        trunk.transport = transport
        trunk.port = port.changed(trunk.port) ?? transport.standardPort
        trunk.authUser = user.changed(trunk.authUser)
        trunk.secret = user == .none ? secret : secret ?? trunk.secret
        trunk.fromDomain = fromDomain.changed(trunk.fromDomain)
        trunk.register = registers ?? trunk.register
        trunk.dtmf = dtmf ?? trunk.dtmf
        trunk.srtp = srtp ?? trunk.srtp
        if let ring { trunk.ringTime = .seconds(ring) }
        trunk.acceptDigest = acceptsDigest ?? trunk.acceptDigest
        trunk.trace = traces ?? trunk.trace
        trunk.assertedIdentity = assertedIdentity.changed(trunk.assertedIdentity)
        trunk.privacy = privacy.changed(trunk.privacy)
        policy.apply(to: &trunk.policy)
        try Self.check(trunk, isOpen: isOpen)
        return trunk
    }

    private static func check(_ trunk: SIPTrunk, isOpen: Bool) throws(SettingProblem) {
        guard (trunk.authUser == nil) == (trunk.secret == nil) else {
            throw trunk.secret == nil
                ? SettingProblem("user", "needs the secret too") : SettingProblem("secret", "needs the user too")
        }
        guard trunk.authUser != nil || !(trunk.register || trunk.acceptDigest) else {
            throw SettingProblem(trunk.register ? "register" : "acceptDigest", "needs the user and the secret")
        }
        guard !isOpen || trunk.policy.callees != .unsaid else {
            throw SettingProblem(
                "allow", "is needed, because the app takes logins without a token: the starts of numbers, any or none")
        }
    }
}

extension SIPTrunk {
    /// The trunk as files have it, without its secret.
    var members: [JSONMember] {
        [
            JSONMember("host", host), JSONMember("port", port), JSONMember("transport", transport.rawValue),
            JSONMember("user", authUser), JSONMember("fromDomain", fromDomain), JSONMember("register", register),
            JSONMember("dtmf", dtmf.rawValue), JSONMember("srtp", srtp.rawValue),
            JSONMember("ringSeconds", ringTime.components.seconds), JSONMember("acceptDigest", acceptDigest),
            JSONMember("trace", trace), JSONMember("assertedIdentity", assertedIdentity),
            JSONMember("privacy", privacy),
        ] + policy.members
    }
}

extension TrunkPatch {
    private static let names =
        [
            "host", "port", "transport", "user", "secret", "fromDomain", "register", "dtmf", "srtp", "ringSeconds",
            "acceptDigest", "trace", "assertedIdentity", "privacy",
        ] + PhonePolicyPatch.names + ["remove"]

    /// Reads and checks a trunk.
    init(_ file: FilePlace, secrets: SecretSource) throws(SettingProblem) {
        self.init()
        for (name, place) in try file.members(Self.names) {
            switch name {
            case "host": host = try place.text()
            case "port": port = try place.named { place throws(SettingProblem) in try place.integer() }
            case "transport": transport = try place.word()
            case "user": user = try place.namedText()
            case "secret": secret = try place.secret(from: secrets)
            case "fromDomain": fromDomain = try place.namedText()
            case "register": registers = try place.flag()
            case "dtmf": dtmf = try place.word()
            case "srtp": srtp = try place.word()
            case "ringSeconds": ring = try place.integer()
            case "acceptDigest": acceptsDigest = try place.flag()
            case "trace": traces = try place.flag()
            case "assertedIdentity": assertedIdentity = try place.namedText()
            case "privacy": privacy = try place.namedText()
            default: try policy.read(name, place)
            }
        }
        do throws(SettingProblem) { try check() } catch { throw error.within(file) }
    }
}

extension FilePlace {
    fileprivate func namedText() throws(SettingProblem) -> Named<String> {
        try named { place throws(SettingProblem) in try place.text() }
    }
}
