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

    /// Reads the timer's words; nil for words that no version of this service has written.
    package init?(words: [String]) {
        switch (words.first, words.count) {
        case ("gateway", 2):
            self = .gateway(GatewayID(words[1]))
        case ("session", 4):
            guard let user = Self.user(words) else { return nil }
            self = .session(user, SessionID(words[3]))
        case ("attributes", 3):
            guard let user = Self.user(words) else { return nil }
            self = .attributes(user)
        default:
            return nil
        }
    }

    /// The timer's kind and what it is about, for the set of timers.
    package var words: [String] {
        switch self {
        // The gateway's heartbeats set this timer too, see `LeaseFleet`.
        case .gateway(let id): ["gateway", id.rawValue]
        case .session(let user, let session):
            ["session", user.app.rawValue, user.account.rawValue, session.rawValue]
        case .attributes(let user): ["attributes", user.app.rawValue, user.account.rawValue]
        }
    }

    /// What it is about.
    package var subject: Subject {
        switch self {
        case .gateway(let id): .gateway(id)
        case .session(let user, _), .attributes(let user): .user(user)
        }
    }

    /// The user named by the second and third word.
    private static func user(_ words: [String]) -> UserKey? {
        guard let app = try? AppID(words[1]), let account = try? Account(words[2]) else { return nil }
        return UserKey(app: app, account: account)
    }
}
