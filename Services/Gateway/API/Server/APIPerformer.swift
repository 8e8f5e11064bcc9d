internal import GatewayAPILogic
internal import RedisStore
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingTokens
internal import SignalingWire

/// Carries out the acts of the server API.
struct APIPerformer: Sendable {
    let shards: APIShards
    let directory: APIDirectory
    /// The metrics of this process, in Prometheus' text format.
    let metrics: @Sendable () async -> String

    /// What was done.
    struct Outcome: Sendable {
        /// What is answered.
        let json: JSONValue
        /// What it has cost besides the answer.
        let work: APIWork
    }

    /// Members that one call of channel-state reads.
    private static let membersOfCall = 250

    /// Carries out an act.
    /// - Parameters:
    ///   - key: the key of the request; nil where none is needed.
    ///   - write: the request's idempotency key, if it has one.
    ///   - known: the results of an earlier attempt, of which what failed is tried again.
    func perform(
        _ act: APIAct, key: APIKey?, write: BegunWrite?, known: BatchResults? = nil
    ) async throws(APIProblem) -> Outcome {
        do {
            var work = APIWork()
            if case .sendAll(let messages) = act {
                return Outcome(json: try await sendAll(messages, write?.request, known), work: work)
            }
            let json = try await answer(to: act, key: key, write: write, &work)
            return Outcome(json: json, work: work)
        } catch let error as SignalingError {
            throw APIProblem(error)
        } catch let problem as APIProblem {
            throw problem
        } catch {
            throw APIProblem(.failed, "the request was interrupted")
        }
    }

    private func answer(
        to act: APIAct, key: APIKey?, write: BegunWrite?, _ work: inout APIWork
    ) async throws -> JSONValue {
        // Repetitions of an act are recognised by it.
        let command = write?.request.command(0)
        switch act {
        case .describeError(let code): return Self.description(of: code)
        case .describeKey: return key.map(Self.description) ?? .null
        case .getMetrics: return .string(await metrics())
        case .listProcesses: return try await processes()
        case .list(let list):
            let page = try await shards.next().ask(list)
            return .object([
                JSONMember(Self.name(of: list.list), try Self.records(page)),
                JSONMember("next", page.next.map { .string($0) } ?? .null),
            ])
        case .getUsage(let list):
            guard case .array(let found) = try Self.records(try await shards.next().ask(list)), let usage = found.first
            else { throw APIProblem(.notFound, "there is no such app", field: "app") }
            return usage
        case .follow, .sendAll: throw APIProblem(.failed, "the act has more than one answer")
        case .startCall(let act):
            // The invitation's id becomes the call's.
            let id = command ?? CommandID("api-\(SecureRandom.hex(bytes: 16))")
            _ = try await shards.next().ask(act, as: id)
            return .object([JSONMember("call", .string(id.rawValue))])
        case .actInCall(let call, let verb, let extra): return try await actInCall(call, verb, extra, command)
        case .readHistory(let channel, let page):
            let page = try await history(of: channel, page)
            work = page.work
            return Self.history(page)
        case .send(let message):
            let outcome = try await send([message], [command])[0]
            return .object([Self.member(try outcome.get())])
        case .getUser(let user):
            let status = try await shards.next().ask(QueryUserStatus(user: user))
            return .object([
                JSONMember("account", .string(user.account.rawValue)), JSONMember("online", .bool(status.online)),
            ])
        case .disconnect(let user):
            _ = try await shards.next().ask(DisconnectUser(user: user), as: command)
            return .object([JSONMember("account", .string(user.account.rawValue))])
        case .getBan(let user):
            return Self.ban(of: user, try await shards.next().ask(GetBan(user: user)))
        case .ban(let user, let end, let reason):
            let until = try end.time(now: write?.begun ?? WallClock.seconds)
            let ban = BanUser(user: user, until: until, reason: reason)
            return Self.ban(of: user, try await shards.next().ask(ban, as: command))
        case .liftBan(let user):
            _ = try await shards.next().ask(LiftBan(user: user), as: command)
            return .object([JSONMember("account", .string(user.account.rawValue))])
        case .mintToken(let user, let seconds):
            return try await token(for: user, seconds: seconds)
        case .revokeTokens(let user, let range):
            let end = try await end(of: range, for: user, from: write?.begun ?? WallClock.seconds)
            let revoked = try await shards.next().ask(RevokeTokens(user: user, until: end), as: command)
            return .object([
                JSONMember("account", .string(user.account.rawValue)), Self.number("until", revoked.until),
            ])
        case .listUserAttributes(let user):
            let list = try await shards.next().ask(ListUserAttributes(user: user))
            return .object([JSONMember("attributes", .object(list.attributes.map(Self.member)))])
        case .getUserAttribute(let user, let name):
            // The list, because an attribute that is not set has an empty value otherwise.
            let list = try await shards.next().ask(ListUserAttributes(user: user))
            work.bytes = Self.bytes(of: list.attributes)
            return try Self.found(name, in: list.attributes)
        case .changeUserAttribute(let change):
            _ = try await shards.next().ask(change, as: command)
            return Self.attribute(change.name, change.value)
        case .listChannelAttributes(let channel):
            let list = try await shards.next().ask(ListChannelAttributes(channel: channel))
            return .object([JSONMember("attributes", .object(list.attributes.map(Self.member)))])
        case .getChannelAttribute(let channel, let name):
            let list = try await shards.next().ask(ListChannelAttributes(channel: channel))
            work.bytes = Self.bytes(of: list.attributes)
            return try Self.found(name, in: list.attributes)
        case .changeChannelAttribute(var change):
            let limits = try await directory.settings(of: change.channel.app)?.limits ?? AppLimits()
            change.limitPerSecond = limits.channelAttributeChangesPerSecond
            _ = try await shards.next().ask(change, as: command)
            return Self.attribute(change.name, change.value)
        case .getChannel(let channel):
            let members = try await shards.next().ask(CountMembers(channel: channel))
            return .object([
                JSONMember("channel", .string(channel.name.rawValue)), Self.number("members", members.count),
            ])
        case .listMembers(let channel, let limit):
            let list = try await shards.next().ask(ListMembers(channel: channel, limit: limit))
            work.calls += list.members.count / Self.membersOfCall
            return Self.list(list)
        case .getMember(let channel, let account):
            let status = try await shards.next().ask(QueryMember(channel: channel, account: account))
            return .object([
                JSONMember("account", .string(account.rawValue)), JSONMember("member", .bool(status.isMember)),
            ])
        }
    }

    private func processes() async throws(SignalingError) -> JSONValue {
        let running = try await RunningInstances.list(shards.next().redis)
        let processes = running.map { instance -> JSONValue in
            .object([
                JSONMember("id", .string(instance.id)), JSONMember("kind", .string(instance.record.kind)),
                JSONMember("version", .string(instance.record.version)), Self.number("level", instance.record.level),
                JSONMember("host", .string(instance.record.host)),
                Self.number("since", instance.record.since.milliseconds / 1000),
            ])
        }
        let level = running.map(\.record.level).min()
        return .object([
            JSONMember("processes", .array(processes)),
            JSONMember("clusterLevel", level.map { .number(String($0)) } ?? .null),
            Self.number("time", WallClock.seconds),
        ])
    }

    /// What a list is called in the answer.
    private static func name(of list: ListRecords.List) -> String {
        switch list {
        case .apps: "apps"
        case .users, .online: "users"
        case .channels: "channels"
        case .members: "members"
        case .calls, .open: "calls"
        case .bans: "bans"
        case .usage: "usage"
        }
    }

    private static func records(_ page: RecordPage) throws(SignalingError) -> JSONValue {
        do {
            return try JSONValue.parse(page.records.utf8)
        } catch {
            throw .unreadableAnswer
        }
    }

    // MARK: - Calls

    private func actInCall(
        _ call: FindCall, _ verb: CallVerb, _ extra: String, _ command: CommandID?
    ) async throws(SignalingError) -> JSONValue {
        let shard = shards.next()
        let found = try await shard.ask(call)
        let actor = Actor(user: call.user, uid: 0, session: .server)
        var act = CallAct(
            verb: verb, actor: actor, channel: found.channel, peer: found.peer.rawValue, extra: extra)
        act.call = call.call
        _ = try await shard.ask(act, as: command)
        return .object([JSONMember("call", .string(call.call))])
    }

    // MARK: - Tokens

    private func token(for user: UserKey, seconds: Int) async throws -> JSONValue {
        let certificate = try await certificate(of: user.app)
        // A token that ends earlier would be refused.
        let revoked = try await shards.next().ask(GetRevokedTokens(user: user)).until
        let expiry = max(WallClock.seconds + Int64(seconds), revoked + 1)
        let token = SignalingToken.make(
            account: user.account.rawValue, app: user.app, certificate: certificate, expiry: expiry)
        return .object([JSONMember("token", .string(token)), Self.number("expiry", expiry)])
    }

    private func certificate(of app: AppID) async throws(APIProblem) -> String {
        guard let certificate = try await directory.settings(of: app)?.certificate, !certificate.isEmpty else {
            throw APIProblem(.conflict, "the app has no certificate, with which tokens are made")
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

    // MARK: - Messages

    /// Sends messages of one app.
    /// - Parameter commands: the ids by which repetitions of the messages are recognised.
    private func send(_ messages: [OutgoingMessage], _ commands: [CommandID?]) async throws -> [MessageOutcome] {
        guard let app = messages.first?.app else { return [] }
        // The request's app was looked up when the request came.
        let limits = try await directory.settings(of: app)?.limits ?? AppLimits()
        let outcomes = await shards.next().send(messages, limits: limits) { commands[$0] }
        APIMetrics.shared.messages.increment(by: messages.count)
        return outcomes
    }

    /// Sends the messages of a batch, or those of them that an earlier attempt has left.
    private func sendAll(
        _ messages: [OutgoingMessage], _ request: IdempotentRequest?, _ known: BatchResults?
    ) async throws -> JSONValue {
        var results = known ?? BatchResults(count: messages.count)
        let open = results.open
        let outcomes = try await send(open.map { messages[$0] }, open.map { request?.command($0) })
        for (index, outcome) in zip(open, outcomes) {
            switch outcome {
            case .success(let accepted): results.set(index, .object([Self.member(accepted)]))
            case .failure(let error): results.set(index, APIProblem(error))
            }
        }
        return results.json
    }

    private static func member(_ accepted: MessageAccepted) -> JSONMember {
        switch accepted {
        case .user(let version): number("version", version)
        case .channel(let id): number("id", id)
        }
    }

    // MARK: - Descriptions

    private static func description(of code: APIErrorCode) -> JSONValue {
        .object([
            JSONMember("code", .string(code.rawValue)), number("status", code.status),
            JSONMember("meaning", .string(code.meaning)),
        ])
    }

    private static func description(_ key: APIKey) -> JSONValue {
        .object([
            JSONMember("id", .string(key.id)), JSONMember("app", key.app.map { .string($0.rawValue) } ?? .null),
            JSONMember("scopes", .array(key.scopes.words.map { .string($0) })),
            number("requestsPerSecond", key.requestsPerSecond),
            JSONMember("expiresAt", key.expiry.map { .number(String($0)) } ?? .null),
        ])
    }

    private static func ban(of user: UserKey, _ ban: UserBan) -> JSONValue {
        .object([
            JSONMember("account", .string(user.account.rawValue)), number("until", ban.until),
            JSONMember("reason", .string(ban.reason)), number("createdAt", ban.createdAt),
        ])
    }

    private static func list(_ members: MemberList) -> JSONValue {
        .object([
            number("total", members.total),
            JSONMember(
                "members",
                .array(
                    members.members.map {
                        .object([JSONMember("account", .string($0.account.rawValue)), number("uid", $0.uid)])
                    })),
        ])
    }

    private static func found(_ name: AttributeName, in attributes: [Attribute]) throws(APIProblem) -> JSONValue {
        guard let attribute = attributes.first(where: { $0.name == name }) else {
            throw APIProblem(.notFound, "the attribute is not set")
        }
        return Self.attribute(name, attribute.value)
    }

    private static func bytes(of attributes: [Attribute]) -> Int {
        attributes.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count }
    }

    /// - Parameter value: nil when the attribute was deleted.
    private static func attribute(_ name: AttributeName, _ value: String?) -> JSONValue {
        .object([
            JSONMember("name", .string(name.rawValue)), JSONMember("value", value.map { .string($0) } ?? .null),
        ])
    }

    private static func member(_ attribute: Attribute) -> JSONMember {
        JSONMember(attribute.name.rawValue, .string(attribute.value))
    }

    private static func number(_ name: String, _ value: some BinaryInteger) -> JSONMember {
        JSONMember(name, .number(String(value)))
    }
}
