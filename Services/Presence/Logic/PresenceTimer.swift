package import SignalingProtocol

/// A timer of presence, a member of the sorted set `due:presence`.
///
/// A timer only tells where to look; what has to be done is then read from Redis and PostgreSQL.
package enum PresenceTimer: Hashable, Sendable {
    /// A gateway's lease may have ended. The gateway's heartbeats postpone this timer.
    case gateway(GatewayID)
    /// A detached session may have timed out, or the consequences of its end may be unfinished.
    case session(UserKey, SessionID)
    /// A change of the user's attributes may be committed and not yet cached.
    case attributes(UserKey)

    /// Parses a member of the set; nil for text that no version of this service has written.
    package init?(member: String) {
        let parts = member.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("gateway", 2...):
            self = .gateway(GatewayID(String(member.dropFirst("gateway:".count))))
        case ("session", 4):
            guard let user = Self.user(parts[1], parts[2]) else { return nil }
            self = .session(user, SessionID(parts[3]))
        case ("attributes", 3):
            guard let user = Self.user(parts[1], parts[2]) else { return nil }
            self = .attributes(user)
        default:
            return nil
        }
    }

    /// The timer as a member of the set.
    package var member: String {
        switch self {
        case .gateway(let id): "gateway:\(id)"
        case .session(let user, let session): "session:\(Self.text(user)):\(session)"
        case .attributes(let user): "attributes:\(Self.text(user))"
        }
    }

    private static func text(_ user: UserKey) -> String {
        "\(PercentEscape.escape(user.app.rawValue)):\(PercentEscape.escape(user.account.rawValue))"
    }

    private static func user(_ app: String, _ account: String) -> UserKey? {
        guard let app = PercentEscape.unescape(app), let account = PercentEscape.unescape(account),
            let app = try? AppID(app), let account = try? Account(account)
        else { return nil }
        return UserKey(app: app, account: account)
    }
}
