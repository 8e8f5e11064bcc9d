internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import Logging
internal import MessageStore
internal import PostgresStore
internal import PresenceLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Opens, resumes, detaches and closes sessions.
///
/// Each is one call of a Redis Function. Its consequences for keys in other hash slots follow in later steps; if this
/// process dies in between, the redelivered command or the session's timer does them.
struct SessionHandler: Sendable {
    let functions: PresenceFunctions
    let ending: SessionEnding
    /// Reads users' numeric ids and attributes.
    let logins: Batcher<UserKey, UserLogin>
    let timers: ServiceTimers<PresenceTimer>
    let logger: Logger

    func open(
        _ command: OpenSession, _ context: CommandContext
    ) async throws(SignalingError) -> FollowedReply<SessionOpened> {
        let user = command.line.user
        let known = try await functions.known(user)
        if let older = known.session, older != command.line.session {
            try await timers.set(.session(user, older), after: SessionEnding.patience)
        }
        let (uid, opened) = try await open(command, known, context)
        if let replaced = opened.replaced {
            // Opened since the user was looked up.
            if replaced.session != known.session {
                try await timers.set(.session(user, replaced.session), after: SessionEnding.patience)
            }
            await ending.begin(replaced, of: user, for: context)
        }
        PresenceMetrics.shared.opened.increment()
        log("session opened", user, command.line.session, command.gateway)
        return FollowedReply(
            SessionOpened(uid: uid, hold: opened.hold, mail: opened.mail),
            then: commands(after: opened, command, uid: uid))
    }

    /// Opens a session, after reading from PostgreSQL what Redis does not know about the user.
    private func open(
        _ command: OpenSession, _ known: PresenceFunctions.KnownUser, _ context: CommandContext
    ) async throws(SignalingError) -> (uid: UInt32, opened: PresenceFunctions.Opened) {
        var timeout = ConnectionTimeout.duration(known.connectionTimeout)
        if let uid = known.uid, known.attributesAreCached {
            let opened = try await functions.open(
                command, context, uid: uid, timeout: timeout, caching: nil)
            guard let opened else { throw .unreadableAnswer }
            return (uid, opened)
        }
        for attempt in 1...UserAttributeCache.attempts {
            let login = try await readLogin(of: command.line.user, known)
            if let login { try await admit(login, command) }
            var read: VersionedAttributes?
            if !known.attributesAreCached {
                read = login?.attributes
                let name = BuiltInAttribute.connectionTimeout
                timeout = ConnectionTimeout.duration(read?.attributes.first { $0.name.rawValue == name }?.value)
            }
            guard let uid = known.uid ?? login?.uid else { throw .unreadableAnswer }
            // Attributes that concurrent changes keep overtaking are used, but not cached.
            var cached = attempt < UserAttributeCache.attempts ? read : nil
            if let large = cached, AttributeSteps.of(large.attributes).count > 1 {
                guard try await functions.load(large.attributes, of: command.line.user, version: large.version) else {
                    continue
                }
                cached = nil
            }
            let opened = try await functions.open(
                command, context, uid: uid, timeout: timeout, caching: cached)
            if let opened { return (uid, opened) }
        }
        throw .unreadableAnswer
    }

    /// What PostgreSQL knows of a user who logs in.
    private func readLogin(
        of user: UserKey, _ known: PresenceFunctions.KnownUser
    ) async throws(SignalingError) -> UserLogin? {
        do {
            return try await logins.submit(user)
        } catch {
            // While PostgreSQL does not answer, a user whose numeric id is known logs in with the default timeout.
            guard known.uid != nil else { throw error.signaling }
            return nil
        }
    }

    /// Refuses a banned user, and a token that was revoked.
    private func admit(_ login: UserLogin, _ command: OpenSession) async throws(SignalingError) {
        if let until = login.bannedUntil {
            throw SignalingError(.loginRejected, .banned, "the user is banned until \(until)")
        }
        guard let revoked = login.revocation else { return }
        guard command.tokenExpiry == 0 || command.tokenExpiry > revoked.until else {
            throw SignalingError(.loginTokenExpired, .tokenErrorExpired, "the token was revoked")
        }
        // Before Redis knows the user again: the next login may not read PostgreSQL.
        _ = try await functions.redis.answer(
            to: .noting(
                banOf: command.line.user, until: revoked.bannedUntil, tokens: revoked.until, version: revoked.version))
    }

    /// The commands that inform the mirror and the app's servers of a new session, and have the gateway
    /// looked at if it may have no lease.
    private func commands(
        after opened: PresenceFunctions.Opened, _ command: OpenSession, uid: UInt32
    ) -> [RedisCommand] {
        let (user, session) = (command.line.user, command.line.session)
        var row = PresenceMirrorRow(
            of: Actor(user: user, uid: uid, session: session), version: opened.change, gateway: command.gateway,
            device: command.device, since: opened.hold.since)
        if opened.replaced == nil { row.cause = MirrorCause(.online) }
        var after = functions.mirror.entries(row)
        if !opened.gatewayLives {
            let end = opened.hold.since + GatewayID.fleet.watchDelay
            after.append(timers.setting(.gateway(command.gateway), at: end))
        }
        if opened.replaced == nil, opened.hasAudience {
            let announcement = ServerAnnouncement(
                .online, of: Actor(user: user, uid: uid, session: session), at: opened.hold.since)
            // Derived from the session, not from the command, because a session comes online only once.
            after.append(announcement.publishing(CommandID(session.rawValue).derived("online")))
        }
        return after
    }

    func resume(_ command: ResumeSession, _ context: CommandContext) async throws(SignalingError) -> SessionResumed {
        let user = command.line.user
        let resumed = try await functions.resume(command, context.id, deadline: context.deadline)
        let row = PresenceMirrorRow(
            of: Actor(user: user, uid: resumed.answer.uid, session: command.line.session),
            version: resumed.change, gateway: command.gateway, device: resumed.device,
            since: resumed.answer.hold.since)
        await tellMirror(row)
        PresenceMetrics.shared.resumed.increment()
        log("session resumed", user, command.line.session, command.gateway)
        return resumed.answer
    }

    func detach(_ command: DetachSession, _ context: CommandContext) async throws(SignalingError) -> Done {
        let route = SessionRoute(user: command.user, session: command.session)
        let reply = try await functions.redis.answer(
            to: PresenceFunctions.detach(
                route, from: command.gateway, .connectionLost(claim: command.claim), context))
        switch try PresenceFunctions.detached(reply) {
        case .detached(let detached):
            _ = try await functions.redis.answers(to: commands(after: detached, route, on: command.gateway))
        case .absent, .kept: break
        }
        return Done()
    }

    /// The commands that set the timer of a detached session and inform the mirror.
    func commands(
        after detached: PresenceFunctions.Detached, _ route: SessionRoute, on gateway: GatewayID
    ) -> [RedisCommand] {
        var row = PresenceMirrorRow(
            of: Actor(user: route.user, uid: detached.uid, session: route.session), version: detached.change,
            gateway: gateway, device: detached.device, since: detached.since)
        row.detached = true
        PresenceMetrics.shared.detached.increment()
        log("session detached", route.user, route.session, gateway)
        return [timers.setting(.session(route.user, route.session), at: detached.over)]
            + functions.mirror.entries(row)
    }

    func close(_ command: CloseSession, _ context: CommandContext) async throws(SignalingError) -> Done {
        try await timers.set(.session(command.user, command.session), after: SessionEnding.patience)
        if let ended = try await functions.close(command, context.id, deadline: context.deadline) {
            await ending.begin(ended, of: command.user, for: context)
        }
        return Done()
    }

    func disconnect(_ command: DisconnectUser, _ context: CommandContext) async throws(SignalingError) -> Done {
        guard let session = try await functions.known(command.user).session else { return Done() }
        return try await close(CloseSession(user: command.user, session: session, reason: .leaveOther), context)
    }

    func status(_ command: QueryUserStatus, _ context: CommandContext) async throws(SignalingError) -> UserStatus {
        let exists = try await functions.redis.answer(
            to: RedisCommand("EXISTS", key: UserKeys(command.user).session))
        return UserStatus(online: exists.int == 1)
    }

    /// Informs the mirror of a change that has already taken effect. If that fails, the command succeeds nevertheless:
    /// an error would turn the client away although its session lives.
    private func tellMirror(_ row: PresenceMirrorRow) async {
        do throws(SignalingError) {
            _ = try await functions.redis.answers(to: functions.mirror.entries(row))
        } catch {
            logger.error(
                "could not record a session for the mirror",
                metadata: [
                    "account": "\(row.user.account)", "session": "\(row.session)", "error": "\(error)",
                ])
        }
    }

    private func log(_ message: Logger.Message, _ user: UserKey, _ session: SessionID, _ gateway: GatewayID) {
        logger.info(
            message,
            metadata: [
                "app": "\(user.app)", "account": "\(user.account)", "session": "\(session)", "gateway": "\(gateway)",
            ])
    }
}
