package import BusProtocol
internal import SignalingWire

/// What is to be changed of a before-hook; what is nil stays.
package struct HookPatch: Equatable, Sendable {
    /// Where questions are posted to; a new hook needs it.
    package var url: WebhookURL?
    /// Signs the questions; a new hook gets a random one.
    package var secret: String?
    /// What is asked about; at first all.
    package var points: [HookPoint]?
    /// Milliseconds for an answer.
    package var deadline: Int?
    /// Whether to go on without an answer.
    package var failsOpen: Bool?
    /// Whether what exceeds ``requests`` is refused.
    package var refusesBusy: Bool?
    /// Questions under way.
    package var requests: Int?
    /// Whether the URL may lead into private networks.
    package var allowsPrivate: Bool?
    /// Whether the URL may lead to loopback.
    package var allowsLoopback: Bool?

    /// Changes nothing.
    package init() {}

    /// Checks each value by itself.
    package func check() throws(SettingProblem) {
        try Rule.check(deadline, of: "deadline", in: BeforeHook.deadlines)
        try Rule.check(requests, of: "requests", in: BeforeHook.requestCounts)
        try Rule.check(secret: secret, bytes: BeforeHook.secretBytes)
    }

    /// The hook after the change.
    /// - Parameters:
    ///   - former: the hook before; nil for a new one.
    ///   - newSecret: makes the secret of a new hook.
    /// - Throws: ``SettingProblem`` when a new one has no URL.
    package func applied(to former: BeforeHook?, newSecret: () -> String) throws(SettingProblem) -> BeforeHook {
        guard let url = url ?? former?.url else { throw SettingProblem("url", "is needed for a new before-hook") }
        var hook =
            former
            ?? BeforeHook(url: url, secret: secret ?? newSecret(), points: HookPoints(HookPoint.allCases))
        hook.url = url
        hook.secret = secret ?? hook.secret
        hook.points = points.map { HookPoints($0) } ?? hook.points
        hook.deadline = deadline ?? hook.deadline
        hook.failsOpen = failsOpen ?? hook.failsOpen
        hook.refusesBusy = refusesBusy ?? hook.refusesBusy
        hook.requests = requests ?? hook.requests
        hook.allowed = hook.allowed.changed(private: allowsPrivate, loopback: allowsLoopback)
        return hook
    }
}

extension BeforeHook {
    /// The hook as files have it, without its secret.
    var members: [JSONMember] {
        [
            JSONMember("url", url.text), JSONMember("on", .array(points.points.map { .string($0.rawValue) })),
            JSONMember("deadline", deadline), JSONMember("failOpen", failsOpen),
            JSONMember("refuseBusy", refusesBusy), JSONMember("requests", requests),
            JSONMember("allowPrivate", allowed.contains(.privateOnes)),
            JSONMember("allowLoopback", allowed.contains(.loopback)),
        ]
    }
}

extension HookPatch {
    private static let names = [
        "url", "secret", "on", "deadline", "failOpen", "refuseBusy", "requests", "allowPrivate", "allowLoopback",
        "remove",
    ]

    /// Reads and checks a before-hook.
    init(_ file: FilePlace, secrets: SecretSource) throws(SettingProblem) {
        self.init()
        for (name, place) in try file.members(Self.names) {
            switch name {
            case "url": url = try place.url()
            case "secret": secret = try place.secret(from: secrets)
            case "on": points = try place.words()
            case "deadline": deadline = try place.integer()
            case "failOpen": failsOpen = try place.flag()
            case "refuseBusy": refusesBusy = try place.flag()
            case "requests": requests = try place.integer()
            case "allowPrivate": allowsPrivate = try place.flag()
            default: allowsLoopback = try place.flag()
            }
        }
        do throws(SettingProblem) { try check() } catch { throw error.within(file) }
    }
}
