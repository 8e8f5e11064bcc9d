package import SignalingProtocol

/// What an app's server can be asked about before it happens.
package enum HookPoint: String, Sendable, CaseIterable {
    /// A login, after its token was checked.
    case login
    /// A join of a channel.
    case join
    /// A message of a client, to a user or a channel.
    case send
}

/// A set of ``HookPoint``, in one byte, because each session has one.
package struct HookPoints: OptionSet, Sendable, Hashable, FieldValue {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The set of these points.
    package init(_ points: some Sequence<HookPoint>) {
        self = points.reduce(into: HookPoints()) { $0.formUnion(Self.bit($1)) }
    }

    /// Whether the set has this point.
    package func contains(_ point: HookPoint) -> Bool { contains(Self.bit(point)) }

    /// Its points, in the order of their declaration.
    package var points: [HookPoint] { HookPoint.allCases.filter { contains($0) } }

    /// The points' words, separated by spaces.
    package var text: String { points.map(\.rawValue).joined(separator: " ") }

    /// Reads ``text``. Words that this release does not know are left out: those points are not asked about.
    package init(text: String) { self.init(text.split(separator: " ").compactMap { HookPoint(rawValue: String($0)) }) }

    private static func bit(_ point: HookPoint) -> HookPoints {
        switch point {
        case .login: HookPoints(rawValue: 1)
        case .join: HookPoints(rawValue: 2)
        case .send: HookPoints(rawValue: 4)
        }
    }

    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(text: try reader.string(name))
    }
}

/// An app's before-hook: its server, which gateways ask whether something may happen (`Docs/webhooks.md`).
package struct BeforeHook: Equatable, Sendable, FieldRecord {
    /// The milliseconds that the server may have for an answer.
    package static let deadlines = 50...5000
    /// The questions about an app that one event loop of a gateway may have under way.
    package static let requestCounts = 1...1000
    /// The bytes of a secret.
    package static let secretBytes = 16...128

    /// Where questions are posted to.
    package var url: WebhookURL
    /// Signs the questions. Never logged.
    package var secret: String
    /// What is asked about.
    package var points: HookPoints
    /// Milliseconds from the look-up of the server's name to the end of its answer; default 1000.
    package var deadline = 1000
    /// Whether what is asked about happens when there is no valid answer in time; default false.
    package var failsOpen = false
    /// Whether what exceeds ``requests`` is refused, although ``failsOpen``; default false.
    package var refusesBusy = false
    /// How many questions one event loop of a gateway has under way at most; default 64.
    package var requests = 64
    /// Which networks besides the Internet the URL may lead into; by default none.
    package var allowed: AllowedNetworks = []

    /// Creates a hook with the defaults.
    package init(url: WebhookURL, secret: String, points: HookPoints) {
        self.url = url
        self.secret = secret
        self.points = points
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            url: try fields.field("hook", \.url), secret: try fields.field("hookSecret", \.secret),
            points: try fields.field("hookPoints", \.points))
        deadline = try fields.field("hookDeadline", \.deadline)
        failsOpen = try fields.field("hookOpen", \.failsOpen)
        requests = try fields.field("hookRequests", \.requests)
        allowsPrivate = try fields.field("hookPrivate", \.allowsPrivate)
        allowsLoopback = try fields.field("hookLoopback", \.allowsLoopback, standard: false)
        refusesBusy = try fields.field("hookBusy", \.refusesBusy, standard: false)
    }
}

extension BeforeHook {
    fileprivate var allowsPrivate: Bool {
        get { allowed.contains(.privateOnes) }
        set { allow(.privateOnes, newValue) }
    }

    fileprivate var allowsLoopback: Bool {
        get { allowed.contains(.loopback) }
        set { allow(.loopback, newValue) }
    }

    private mutating func allow(_ networks: AllowedNetworks, _ isAllowed: Bool) {
        if isAllowed { allowed.insert(networks) } else { allowed.remove(networks) }
    }
}
