/// The side that refreshes the session (RFC 4028): the `refresher` parameter, relative to one request.
package enum SessionRole: String, Sendable, CaseIterable {
    /// The side that sent the request.
    case uac
    /// The side that responded to it.
    case uas
}

/// The header fields of a received message that concern session timers and UPDATE.
package struct SessionTimerFields: Equatable, Sendable {
    /// Session-Expires.
    package var interval: Duration?
    /// The `refresher` of Session-Expires, relative to the request.
    package var refresher: SessionRole?
    /// Min-SE.
    package var minimum: Duration?
    /// Whether `timer` is listed in Supported or Require.
    package var supportsTimer = false
    /// Whether UPDATE is listed in Allow; nil without an Allow field.
    package var allowsUpdate: Bool?

    /// Creates the terms of a message without any of these fields.
    package init() {}

    /// Parses header fields; each is given as its values joined by commas, nil for an absent one. A malformed field
    /// counts as absent.
    package init(sessionExpires: String?, minimum: String?, supported: String?, allow: String?) {
        if let sessionExpires {
            let parts = sessionExpires.split(separator: ";").map(Self.trimmed)
            interval = parts.first.flatMap(Self.seconds)
            for part in parts.dropFirst() {
                let pair = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
                if pair.count == 2, pair[0].lowercased() == "refresher" {
                    refresher = SessionRole(rawValue: pair[1].lowercased())
                }
            }
        }
        self.minimum = minimum.flatMap { $0.split(separator: ";").first.map(Self.trimmed) }.flatMap(Self.seconds)
        supportsTimer = supported.map { Self.has("timer", in: $0) } ?? false
        allowsUpdate = allow.map { Self.has("update", in: $0) }
    }

    private static func seconds(_ text: String) -> Duration? { UInt32(text).map { .seconds($0) } }

    private static func has(_ token: String, in list: String) -> Bool {
        list.split(separator: ",").contains { trimmed($0).lowercased() == token }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// The session timer fields of a message that we send.
package struct SessionHeaders: Equatable, Sendable {
    /// Session-Expires.
    package var interval: Duration?
    /// The `refresher` of Session-Expires.
    package var refresher: SessionRole?
    /// Min-SE.
    package var minimum: Duration?
    /// Whether the message contains `Require: timer`.
    package var requiresTimer = false

    /// Creates the fields.
    package init(
        interval: Duration? = nil, refresher: SessionRole? = nil, minimum: Duration? = nil, requiresTimer: Bool = false
    ) {
        self.interval = interval
        self.refresher = refresher
        self.minimum = minimum
        self.requiresTimer = requiresTimer
    }

    /// The fields as header lines.
    package var lines: [SIPHeaderField] {
        var lines: [SIPHeaderField] = []
        if let interval {
            let role = refresher.map { ";refresher=\($0.rawValue)" } ?? ""
            lines.append(SIPHeaderField("Session-Expires", "\(interval.components.seconds)\(role)"))
        }
        if let minimum { lines.append(SIPHeaderField("Min-SE", "\(minimum.components.seconds)")) }
        if requiresTimer { lines.append(SIPHeaderField("Require", "timer")) }
        return lines
    }
}

/// The session timer that both sides have agreed on.
package struct SessionTimer: Equatable, Sendable {
    /// The time from a refresh to the session's end.
    package var interval: Duration
    /// Whether we send the refreshes; otherwise the peer does.
    package var isOurs: Bool

    /// Creates a timer.
    package init(interval: Duration, isOurs: Bool) {
        self.interval = interval
        self.isOurs = isOurs
    }

    /// The time from one refresh to the next, when we send them: half the interval.
    var refreshAfter: Duration { interval / 2 }

    /// The time after the last refresh at which we regard the session as expired: 32 s or a third of the interval
    /// before its end, whichever is less (RFC 4028, 10).
    var expireAfter: Duration { interval - min(.seconds(32), interval / 3) }
}

/// The rules by which session timers are negotiated (RFC 4028).
package struct SessionPolicy: Equatable, Sendable {
    /// The response to a peer's request.
    enum Answer: Equatable {
        /// 422 with this Min-SE.
        case tooSmall(minimum: Duration)
        /// A 2xx with these fields, after which the timer runs.
        case agreed(SessionTimer, SessionHeaders)
    }

    /// The smallest interval that RFC 4028 lets us insist on.
    static let shortestInterval = Duration.seconds(90)
    /// The smallest interval that is used when a peer answers with less than allowed: shorter ones would flood both
    /// sides.
    private static let shortest = Duration.seconds(2)
    /// The largest interval that we request because of a peer's Min-SE.
    private static let longest = Duration.seconds(86_400)

    /// The interval that we request, in whole seconds; default 30 min.
    package var interval = Duration.seconds(1800)

    /// The default policy.
    package init() {}

    /// The fields of a request that we send.
    /// - Parameter timer: the timer agreed on so far, whose roles are kept; nil for the first INVITE.
    func request(_ timer: SessionTimer?, minimum: Duration?) -> SessionHeaders {
        SessionHeaders(
            interval: max(timer?.interval ?? interval, minimum ?? .zero),
            refresher: timer.map { $0.isOurs ? .uac : .uas }, minimum: minimum)
    }

    /// The Min-SE with which to try again after a 422; nil when that would fail too.
    func minimumAfterRefusal(_ terms: SessionTimerFields, before: Duration?) -> Duration? {
        guard let minimum = terms.minimum, minimum <= Self.longest, minimum > before ?? .zero else { return nil }
        return max(minimum, Self.shortestInterval)
    }

    /// The timer agreed on by a 2xx to a request of ours; nil for none.
    func agreed(_ terms: SessionTimerFields) -> SessionTimer? {
        guard let interval = terms.interval else { return nil }
        // A 2xx must name the refresher. If it does not, we refresh: two refreshers do no harm.
        return SessionTimer(interval: max(interval, Self.shortest), isOurs: terms.refresher != .uas)
    }

    /// The response to a peer's INVITE or UPDATE, as far as session timers are concerned.
    func answer(_ terms: SessionTimerFields) -> Answer {
        var interval = terms.interval ?? max(self.interval, terms.minimum ?? .zero)
        if interval < Self.shortestInterval {
            // Without `timer` in Supported, a proxy has requested the timer; the peer would not understand a 422 (RFC
            // 4028, 9).
            if terms.supportsTimer { return .tooSmall(minimum: Self.shortestInterval) }
            interval = Self.shortestInterval
        }
        let role: SessionRole = terms.supportsTimer ? terms.refresher ?? .uac : .uas
        let headers = SessionHeaders(
            interval: interval, refresher: role, requiresTimer: terms.supportsTimer && role == .uac)
        return .agreed(SessionTimer(interval: interval, isOurs: role == .uas), headers)
    }
}
