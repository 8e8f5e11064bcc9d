/// The two roles of one request (RFC 4028): who sent it, who answers it.
package enum SessionRole: String, Sendable, CaseIterable {
    /// The sender of the request.
    case uac
    /// The answerer of the request.
    case uas
}

/// What a message says of session timers and UPDATE.
package struct SessionTerms: Equatable, Sendable {
    /// Session-Expires, s.
    package var interval: Int?
    /// Its `refresher`, relative to the request.
    package var refresher: SessionRole?
    /// Min-SE, s.
    package var minimum: Int?
    /// Whether `timer` is among Supported or Require.
    package var supportsTimer = false
    /// Whether UPDATE is among Allow; nil without an Allow.
    package var allowsUpdate: Bool?

    /// Says nothing.
    package init() {}

    /// Reads header fields, each as its values joined with commas; nil for one that is absent. What cannot be read counts as absent.
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

    private static func seconds(_ text: String) -> Int? { UInt32(text).map(Int.init) }

    private static func has(_ token: String, in list: String) -> Bool {
        list.split(separator: ",").contains { trimmed($0).lowercased() == token }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// The fields of session timers that a message of ours carries.
package struct SessionHeaders: Equatable, Sendable {
    /// Session-Expires, s.
    package var interval: Int?
    /// Its `refresher`.
    package var refresher: SessionRole?
    /// Min-SE, s.
    package var minimum: Int?
    /// Whether the message says `Require: timer`.
    package var requiresTimer = false

    /// Carries what is given.
    package init(interval: Int? = nil, refresher: SessionRole? = nil, minimum: Int? = nil, requiresTimer: Bool = false)
    {
        self.interval = interval
        self.refresher = refresher
        self.minimum = minimum
        self.requiresTimer = requiresTimer
    }

    /// The header fields.
    package var lines: [SIPHeaderField] {
        var lines: [SIPHeaderField] = []
        if let interval {
            let role = refresher.map { ";refresher=\($0.rawValue)" } ?? ""
            lines.append(SIPHeaderField("Session-Expires", "\(interval)\(role)"))
        }
        if let minimum { lines.append(SIPHeaderField("Min-SE", "\(minimum)")) }
        if requiresTimer { lines.append(SIPHeaderField("Require", "timer")) }
        return lines
    }
}

/// A session timer that both sides agreed on.
package struct SessionTimer: Equatable, Sendable {
    /// Seconds from one refresh to the session's end.
    package var interval: Int
    /// Whether we refresh; else the peer does.
    package var isOurs: Bool

    /// Agrees.
    package init(interval: Int, isOurs: Bool) {
        self.interval = interval
        self.isOurs = isOurs
    }

    /// When we refresh, ms after the last refresh.
    var refreshAfter: Int64 { Int64(interval) * 500 }

    /// When the session is given up, ms after the last refresh: the smaller of 32 s and a third before its end (RFC 4028, 10).
    var expireAfter: Int64 { Int64(interval) * 1000 - min(32_000, Int64(interval) * 1000 / 3) }
}

/// How session timers are agreed on (RFC 4028).
package struct SessionPolicy: Equatable, Sendable {
    /// What becomes of a peer's request.
    enum Answer: Equatable {
        /// 422 with this Min-SE.
        case tooSmall(minimum: Int)
        /// A 2xx with these fields, after which the timer runs.
        case agreed(SessionTimer, SessionHeaders)
    }

    /// The shortest that RFC 4028 allows to be demanded, s.
    static let floor = 90
    /// The shortest that is kept although a peer should not have said it, s: below, refreshes would be a flood.
    private static let shortest = 2
    /// The longest that is asked for because a peer's Min-SE demands it, s.
    private static let longest = 86_400

    /// Seconds that we ask for; default 1800.
    package var interval = 1800

    /// The defaults.
    package init() {}

    /// The fields of a request of ours.
    /// - Parameter timer: the timer that stands, whose role goes on; nil for the first INVITE.
    func request(_ timer: SessionTimer?, minimum: Int?) -> SessionHeaders {
        SessionHeaders(
            interval: max(timer?.interval ?? interval, minimum ?? 0),
            refresher: timer.map { $0.isOurs ? .uac : .uas }, minimum: minimum)
    }

    /// The Min-SE of the next try after a 422; nil when there is no sense in one.
    func minimumAfterRefusal(_ terms: SessionTerms, before: Int?) -> Int? {
        guard let minimum = terms.minimum, minimum <= Self.longest, minimum > before ?? 0 else { return nil }
        return max(minimum, Self.floor)
    }

    /// What a 2xx to a request of ours agreed to; nil for no timer.
    func agreed(_ terms: SessionTerms) -> SessionTimer? {
        guard let interval = terms.interval else { return nil }
        // A 2xx must name the refresher; if not, it can't hurt that we refresh.
        return SessionTimer(interval: max(interval, Self.shortest), isOurs: terms.refresher != .uas)
    }

    /// How a peer's INVITE or UPDATE is answered.
    func answer(_ terms: SessionTerms) -> Answer {
        var interval = terms.interval ?? max(self.interval, terms.minimum ?? 0)
        if interval < Self.floor {
            // Without `timer` a proxy asked, not the peer, who would not understand a 422 (RFC 4028, 9).
            if terms.supportsTimer { return .tooSmall(minimum: Self.floor) }
            interval = Self.floor
        }
        let role: SessionRole = terms.supportsTimer ? terms.refresher ?? .uac : .uas
        let headers = SessionHeaders(
            interval: interval, refresher: role, requiresTimer: terms.supportsTimer && role == .uac)
        return .agreed(SessionTimer(interval: interval, isOurs: role == .uas), headers)
    }
}
