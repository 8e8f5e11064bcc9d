internal import Logging
internal import MessageStore
internal import Metrics
internal import PostgresStore
internal import PresenceLogic
internal import RedisStore
internal import SignalingProtocol

/// Opens, resumes, detaches and closes sessions.
///
/// Each act is one function call; what follows in other slots is repeated by the redelivered command or by the session's
/// timer when this process dies in between.
struct SessionHandler: Sendable {
    let functions: PresenceFunctions
    let ending: SessionEnding
    let attributes: UserAttributeCache
    let numbers: Batcher<UserKey, UInt32>
    let messages: MessageStore
    let timers: DueTimers
    let logger: Logger

    func open(_ command: OpenSession, _ context: CommandContext) async throws(SignalingError) -> SessionOpened {
        let user = command.line.user
        let known = try await functions.known(user)
        let uid = try await number(of: user, known.uid)
        let timeout = await timeout(of: user, known)
        if let older = known.session, older != command.line.session {
            try await schedule(.session(user, older), at: known.now + SessionEnding.patience)
        }
        let opened = try await functions.open(
            command, uid: uid, timeout: timeout, context.id, deadline: context.deadline)
        if !opened.gatewayLives {
            try await schedule(.gateway(command.gateway), at: opened.now + LeaseFleet.gateways.watchDelay)
        }
        await afterwards(command.line) { () async throws(SignalingError) in
            try await follow(opened, command, uid: uid)
        }
        PresenceMetrics.opened.increment()
        log("session opened", user, command.line.session, command.gateway)
        return SessionOpened(uid: uid)
    }

    private func follow(
        _ opened: PresenceFunctions.Opened, _ command: OpenSession, uid: UInt32
    ) async throws(SignalingError) {
        let (user, session) = (command.line.user, command.line.session)
        let row = PresenceMirrorRow(
            user: user, version: opened.change, present: true, uid: uid, session: session, gateway: command.gateway,
            device: command.device, detached: false, since: opened.now)
        _ = try await functions.one(PresenceMirror.entry(row))
        if let replaced = opened.replaced { return try await ending.carryOut(replaced, of: user) }
        let announcement = PresenceAnnouncement(
            event: .online, user: user, uid: uid, session: session, reason: .success, time: opened.now)
        _ = try await messages.sendToChannel(announcement.message)
    }

    func resume(_ command: ResumeSession, _ context: CommandContext) async throws(SignalingError) -> SessionResumed {
        let user = command.line.user
        let resumed: PresenceFunctions.Resumed
        do {
            resumed = try await functions.resume(command, context.id, deadline: context.deadline)
        } catch {
            // The route was added first, so that no crash can leave a session without one.
            _ = try? await functions.one(
                PresenceFunctions.removeRoute(user, command.line.session, from: command.gateway))
            throw error
        }
        await afterwards(command.line) { () async throws(SignalingError) in
            let row = PresenceMirrorRow(
                user: user, version: resumed.change, present: true, uid: resumed.answer.uid,
                session: command.line.session,
                gateway: command.gateway, device: resumed.device, detached: false, since: resumed.since)
            var commands = [PresenceMirror.entry(row)]
            if resumed.formerGateway != command.gateway {
                commands.append(PresenceFunctions.removeRoute(user, command.line.session, from: resumed.formerGateway))
            }
            _ = try await functions.all(commands)
        }
        PresenceMetrics.resumed.increment()
        log("session resumed", user, command.line.session, command.gateway)
        return resumed.answer
    }

    func detach(_ command: DetachSession, _ context: CommandContext) async throws(SignalingError) -> Done {
        let reply = try await functions.one(
            PresenceFunctions.detach(
                command.user, command.session, on: command.gateway, asOf: 0, context.id, deadline: context.deadline))
        if let detached = PresenceFunctions.detached(reply) {
            let route = SessionRoute(user: command.user, session: command.session)
            try await follow(detached, route, on: command.gateway)
        }
        return Done()
    }

    /// Sets the timer of a detached session and tells the mirror.
    func follow(
        _ detached: PresenceFunctions.Detached, _ route: SessionRoute, on gateway: GatewayID
    ) async throws(SignalingError) {
        try await schedule(.session(route.user, route.session), at: detached.over)
        let row = PresenceMirrorRow(
            user: route.user, version: detached.change, present: true, uid: detached.uid, session: route.session,
            gateway: gateway, device: detached.device, detached: true, since: detached.since)
        _ = try await functions.one(PresenceMirror.entry(row))
        PresenceMetrics.detached.increment()
        log("session detached", route.user, route.session, gateway)
    }

    func close(_ command: CloseSession, _ context: CommandContext) async throws(SignalingError) -> Done {
        let now = try await functions.now()
        try await schedule(.session(command.user, command.session), at: now + SessionEnding.patience)
        if let ended = try await functions.close(command, context.id, deadline: context.deadline) {
            let line = Line(user: command.user, session: command.session, secret: "-")
            await afterwards(line) { () async throws(SignalingError) in
                try await ending.carryOut(ended, of: command.user)
            }
        }
        return Done()
    }

    func status(_ command: QueryUserStatus, _ context: CommandContext) async throws(SignalingError) -> UserStatus {
        let exists = try await functions.one(
            RedisCommand("EXISTS", .string(KeySpace.tag(command.user) + ":session")))
        return UserStatus(online: exists.int == 1)
    }

    func schedule(_ timer: PresenceTimer, at milliseconds: Int64) async throws(SignalingError) {
        do {
            try await timers.schedule(timer.member, atMilliseconds: milliseconds)
        } catch {
            throw error.signaling
        }
    }

    /// What follows a change that has taken effect must not make it look failed: the client would be turned away while its
    /// session lives. An ending that is not carried out is left to its timer.
    private func afterwards(_ line: Line, _ follow: () async throws(SignalingError) -> Void) async {
        do throws(SignalingError) {
            try await follow()
        } catch {
            logger.error(
                "what follows a change of a session is not done",
                metadata: ["account": "\(line.user.account)", "session": "\(line.session)", "error": "\(error)"])
        }
    }

    private func number(of user: UserKey, _ known: UInt32?) async throws(SignalingError) -> UInt32 {
        if let known { return known }
        do {
            return try await numbers.submit(user)
        } catch {
            throw error.signaling
        }
    }

    /// A user whose attributes cannot be read just now gets the default, rather than no login.
    private func timeout(of user: UserKey, _ known: PresenceFunctions.KnownUser) async -> Int {
        if known.attributesAreCached { return ConnectionTimeout.seconds(known.connectionTimeout) }
        let loaded = try? await attributes.load(user)
        let value = loaded?.first { $0.name.rawValue == BuiltInAttribute.connectionTimeout }?.value
        return ConnectionTimeout.seconds(value)
    }

    private func log(_ message: Logger.Message, _ user: UserKey, _ session: SessionID, _ gateway: GatewayID) {
        logger.info(
            message,
            metadata: [
                "app": "\(user.app)", "account": "\(user.account)", "session": "\(session)", "gateway": "\(gateway)",
            ])
    }
}
