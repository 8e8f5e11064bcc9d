internal import BusProtocol
package import SignalingProtocol

/// Users: their sessions, tokens and bans.
extension APIOperation {
    static let users: [APIOperation] = [
        APIOperation("getUser", "GET /v1/apps/{app}/users/{account}", .key(.read), act: APIArguments.getUser),
        APIOperation(
            "queryPresence", "POST /v1/apps/{app}/presence", .key(.read), .body(upTo: largestBody, changes: false),
            act: APIArguments.queryPresence),
        APIOperation(
            "disconnectUser", "POST /v1/apps/{app}/users/{account}/disconnect", .key(.admin),
            act: APIArguments.disconnectUser),
        APIOperation(
            "mintToken", "POST /v1/apps/{app}/users/{account}/tokens", .key(.admin), .body(changes: false),
            act: APIArguments.mintToken),
        APIOperation(
            "revokeTokens", "POST /v1/apps/{app}/users/{account}/tokens/revoke", .key(.admin), .body(),
            act: APIArguments.revokeTokens),
        APIOperation("getBan", "GET /v1/apps/{app}/users/{account}/ban", .key(.read), act: APIArguments.getBan),
        APIOperation(
            "setBan", "PUT /v1/apps/{app}/users/{account}/ban", .key(.admin), .body(), act: APIArguments.setBan),
        APIOperation(
            "deleteBan", "DELETE /v1/apps/{app}/users/{account}/ban", .key(.admin), act: APIArguments.deleteBan),
    ]
}

extension APIAct {
    package enum Users: Equatable, Sendable {
        case get(UserKey)
        /// The presence of each of these users.
        case presence([UserKey])
        case disconnect(UserKey)
        /// A login token for so many seconds.
        case mintToken(UserKey, seconds: Int)
        case revokeTokens(UserKey, RevokedRange)
        case getBan(UserKey)
        case ban(UserKey, until: BanEnd, reason: String)
        case liftBan(UserKey)
    }

    /// Users whose presence one request asks for, at most.
    package static let presenceBound = 1000
    /// Users whose presence counts as much as a request of the key's rate: it is read from Redis directly, by a command
    /// of a pipeline.
    package static let presenceOfRequest = 10
    /// The range of a token's life in seconds: up to a year.
    package static let tokenSeconds = 1...31_536_000
    /// Bytes of a login token.
    package static let tokenBytes = 1...256
    /// The latest time at which a token may end that is revoked, in Unix seconds: the last second of the year 9999.
    package static let lastTokenEnd: Int64 = 253_402_300_799
}

/// Which login tokens of a user are to be revoked.
package enum RevokedRange: Equatable, Sendable {
    /// This token, and those that end before it.
    case token(String)
    /// Tokens that were made until now for so many seconds at most.
    case made(seconds: Int)
}

/// When a ban is to end.
package enum BanEnd: Equatable, Sendable {
    /// So many seconds from now.
    case seconds(Int)
    /// In Unix seconds.
    case time(Int)

    /// The end in Unix seconds.
    /// - Parameter now: in Unix seconds.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument`` when that is too early or too late.
    package func time(now: Int64) throws(APIProblem) -> Int64 {
        switch self {
        case .seconds(let seconds): return now + Int64(seconds)
        case .time(let time):
            let (least, most) = (now + Int64(UserBan.seconds.lowerBound), now + Int64(UserBan.seconds.upperBound))
            guard (least...most).contains(Int64(time)) else {
                throw APIProblem.invalid("until", "a whole number of \(least)...\(most), in the future")
            }
            return Int64(time)
        }
    }
}

extension APIArguments {
    fileprivate func getUser() throws(APIProblem) -> APIAct { .users(.get(try user())) }

    fileprivate func queryPresence() throws(APIProblem) -> APIAct {
        let app = try app()
        var users: [UserKey] = []
        for (index, value) in try fields("users").list("users", count: 1...APIAct.presenceBound).enumerated() {
            users.append(UserKey(app: app, account: try APIFields.account(value, at: "users[\(index)]")))
        }
        return .users(.presence(users))
    }

    fileprivate func disconnectUser() throws(APIProblem) -> APIAct { .users(.disconnect(try user())) }

    fileprivate func mintToken() throws(APIProblem) -> APIAct {
        let fields = try fields("ttl")
        return .users(
            .mintToken(
                try newUser(), seconds: try fields.integer("ttl", in: APIAct.tokenSeconds, standard: 86_400)))
    }

    fileprivate func revokeTokens() throws(APIProblem) -> APIAct {
        let fields = try fields("token", "ttl")
        guard fields.has("token") != fields.has("ttl") else {
            throw APIProblem.invalid(fields.has("ttl") ? "ttl" : "token", "given, or else ttl; not both")
        }
        let user = try user()
        guard fields.has("token") else {
            return .users(
                .revokeTokens(user, .made(seconds: try fields.integer("ttl", in: APIAct.tokenSeconds))))
        }
        return .users(.revokeTokens(user, .token(try fields.text("token", bytes: APIAct.tokenBytes))))
    }

    fileprivate func getBan() throws(APIProblem) -> APIAct { .users(.getBan(try user())) }
    fileprivate func deleteBan() throws(APIProblem) -> APIAct { .users(.liftBan(try user())) }

    fileprivate func setBan() throws(APIProblem) -> APIAct {
        let terms = try banTerms()
        return .users(.ban(try user(), until: terms.end, reason: terms.reason))
    }

    /// Until when somebody is banned, and why.
    func banTerms() throws(APIProblem) -> (end: BanEnd, reason: String) {
        let fields = try fields("seconds", "until", "reason")
        guard fields.has("seconds") != fields.has("until") else {
            throw APIProblem.invalid(fields.has("until") ? "until" : "seconds", "given, or else until; not both")
        }
        let end: BanEnd =
            if fields.has("seconds") {
                .seconds(try fields.integer("seconds", in: UserBan.seconds))
            } else {
                .time(try fields.integer("until", in: 0...Int(Int32.max) * 1000))
            }
        let reason = fields.has("reason") ? try fields.text("reason", bytes: UserBan.reasonBytes) : ""
        guard !reason.utf8.contains(0) else { throw APIProblem.invalid("reason", "without the NUL character") }
        return (end, reason)
    }
}
