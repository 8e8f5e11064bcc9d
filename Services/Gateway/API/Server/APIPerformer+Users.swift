internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import GatewayAPILogic
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol
internal import SignalingTokens
internal import SignalingWire

/// Users: their sessions, tokens and bans.
extension APIPerformer {
    func perform(_ act: APIAct.Users, key: APIKey?, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        // An address is personal: it is shown to those who may act on it.
        case .get(let user): try await get(user, withAddress: key?.scopes.contains(.admin) == true)
        case .presence(let users): try await presence(of: users)
        case .disconnect(let user): try await disconnect(user, write)
        case .mintToken(let user, let seconds): try await mintToken(for: user, seconds: seconds)
        case .revokeTokens(let user, let range): try await revokeTokens(range, of: user, write)
        case .getBan(let user): try await getBan(of: user)
        case .ban(let user, let end, let reason): try await ban(user, until: end, reason: reason, write)
        case .liftBan(let user): try await liftBan(of: user, write)
        }
    }

    private func get(_ user: UserKey, withAddress: Bool) async throws -> Outcome {
        let presence = try await read([user], over: shards.next())[0]
        return Outcome(.object([Self.account(user.account)] + presence.details(withAddress: withAddress)))
    }

    private func presence(of users: [UserKey]) async throws -> Outcome {
        let shard = shards.next()
        var found: [JSONValue] = []
        found.reserveCapacity(users.count)
        for start in stride(from: 0, to: users.count, by: Self.usersOfPipeline) {
            let part = Array(users[start..<min(start + Self.usersOfPipeline, users.count)])
            for (user, presence) in zip(part, try await read(part, over: shard)) {
                found.append(.object([Self.account(user.account)] + presence.summary))
            }
        }
        return Outcome(JSONMember("users", .array(found)))
    }

    /// Users that are read in one pipeline: clients' messages over the same connection wait for no more.
    private static let usersOfPipeline = 250

    /// Reads users' sessions from Redis.
    private func read(_ users: [UserKey], over shard: APIShard) async throws(SignalingError) -> [UserPresence] {
        let fields = UserPresence.fields.map { RedisArgument.string($0) }
        let answers = try await shard.redis.answers(
            to: users.map { RedisCommand("HMGET", key: UserKeys($0).session, arguments: fields) })
        var found: [UserPresence] = []
        for answer in answers {
            guard let values = answer.array, let presence = UserPresence(values.map(\.string)) else {
                throw .unreadableAnswer
            }
            found.append(presence)
        }
        return found
    }

    private func disconnect(_ user: UserKey, _ write: BegunWrite?) async throws -> Outcome {
        _ = try await shards.next().ask(DisconnectUser(user: user), as: write?.command)
        return Outcome(Self.account(user.account))
    }

    // MARK: - Tokens

    private func mintToken(for user: UserKey, seconds: Int) async throws -> Outcome {
        let certificate = try await certificate(of: user.app)
        // A token that ends earlier would be refused.
        let revoked = try await shards.next().ask(GetRevokedTokens(user: user, mintedSeconds: Int64(seconds))).until
        let expiry = max(WallClock.seconds + Int64(seconds), revoked + 1)
        let token = SignalingToken.make(
            account: user.account.rawValue, app: user.app, certificate: certificate, expiry: expiry)
        return Outcome(JSONMember("token", token), JSONMember("expiry", expiry))
    }

    private func revokeTokens(
        _ range: RevokedRange, of user: UserKey, _ write: BegunWrite?
    ) async throws -> Outcome {
        let end = try await end(of: range, for: user, from: write?.begun ?? WallClock.seconds)
        let revoked = try await shards.next().ask(RevokeTokens(user: user, until: end), as: write?.command)
        return Outcome(Self.account(user.account), JSONMember("until", revoked.until))
    }

    private func certificate(of app: AppID) async throws(APIProblem) -> String {
        guard let certificate = try await directory.settings(of: app)?.certificate, !certificate.isEmpty else {
            throw APIProblem(.noCertificate, "the app has no certificate")
        }
        return certificate
    }

    /// Until when the tokens end that are to be revoked, in Unix seconds.
    /// - Parameter begun: when the revocation was asked for first: a repetition spares the tokens that were made since.
    private func end(
        of range: RevokedRange, for user: UserKey, from begun: Int64
    ) async throws(APIProblem) -> Int64 {
        switch range {
        case .made(let seconds): return begun + Int64(seconds)
        case .token(let token):
            let certificate = try await certificate(of: user.app)
            // One that has expired is refused anyway.
            let expiry = try? SignalingToken.check(
                token, account: user.account, app: user.app, certificate: certificate, now: 0)
            guard let expiry, expiry <= APIAct.lastTokenEnd else {
                throw APIProblem.invalid("token", "a token of this account that ends by the year 9999")
            }
            return expiry
        }
    }

    // MARK: - Bans

    private func getBan(of user: UserKey) async throws -> Outcome {
        Self.describe(try await shards.next().ask(GetBan(user: user)), of: user)
    }

    private func ban(
        _ user: UserKey, until end: BanEnd, reason: String, _ write: BegunWrite?
    ) async throws -> Outcome {
        let until = try end.time(now: write?.begun ?? WallClock.seconds)
        let ban = BanUser(user: user, until: until, reason: reason)
        return Self.describe(try await shards.next().ask(ban, as: write?.command), of: user)
    }

    private func liftBan(of user: UserKey, _ write: BegunWrite?) async throws -> Outcome {
        _ = try await shards.next().ask(LiftBan(user: user), as: write?.command)
        return Outcome(Self.account(user.account))
    }

    private static func describe(_ ban: UserBan, of user: UserKey) -> Outcome {
        Outcome(
            account(user.account), JSONMember("until", ban.until), JSONMember("reason", ban.reason),
            JSONMember("createdAt", ban.createdAt))
    }
}
