internal import Logging
internal import Pacing
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// The registrations of all trunks that require one, kept in accordance with the trunk table.
@SIPThread
final class TrunkRegistrations {
    /// How long the outcome of the REGISTER after a failure may take, from the end of the pause: more than timer F of a
    /// request without an answer (RFC 3261, 17.1.2.2), twice for a challenge.
    private static let outcomeTime = Duration.seconds(90)

    @SIPThread
    private final class Entry {
        let target: TrunkRegistrationTarget
        var registration: TrunkRegistration?
        var isEnded = false

        init(target: TrunkRegistrationTarget) { self.target = target }
    }

    private var entries: [AppID: Entry] = [:]
    /// The registrations whose bindings are being removed.
    private var ending: [Entry] = []
    /// What operators are told.
    var book = RegistrationBook()

    nonisolated init() {}

    /// The number of trunks that should be registered, and are not.
    var missingCount: Int { entries.count - book.registered(at: SIPLoop.now) }

    /// The number of bindings that are being removed.
    var endingCount: Int { ending.count { !$0.isEnded } }

    /// Starts, replaces and ends registrations according to the table.
    func follow(_ trunks: [SIPTrunk], stack: SIPStack, logger: Logger) {
        var wanted: [AppID: TrunkRegistrationTarget] = [:]
        for trunk in trunks {
            guard let target = TrunkRegistrationTarget(trunk) else { continue }
            wanted[trunk.app] = target
            guard trunk.transport == .tls, entries[trunk.app]?.target != target else { continue }
            do {
                try stack.trust(trunk.host)
            } catch {
                logger.error("could not trust a registrar's host name for TLS", metadata: ["error": "\(error)"])
            }
        }
        ending.removeAll(where: \.isEnded)
        for (app, entry) in entries where wanted[app] != entry.target { end(entry, of: app) }
        for (app, target) in wanted where entries[app] == nil { start(target, of: app, stack: stack, logger: logger) }
    }

    private func start(_ target: TrunkRegistrationTarget, of app: AppID, stack: SIPStack, logger: Logger) {
        var logger = logger
        logger[metadataKey: "app"] = "\(app)"
        let entry = Entry(target: target)
        let registration = TrunkRegistration(stack: stack, target: target) {
            [logger, weak self, unowned entry] status in
            entry.isEnded = status == .ended
            Self.note(status, logger)
            // Of one that was replaced or ended, operators were told when that began.
            if let self, entries[app] === entry { tell(status, of: app) }
        }
        entry.registration = registration
        entries[app] = entry
        registration.start()
    }

    private func tell(_ status: TrunkRegistration.Status, of app: AppID) {
        let now = SIPLoop.now
        switch status {
        case .registered(let lifetime): book.note(.registered, of: app, until: now + lifetime)
        case .lost(let status, let pause):
            let standing: RegistrationStanding = status.map { .refused(status: $0) } ?? .unanswered
            book.note(standing, of: app, until: now + pause + Self.outcomeTime)
        case .ended: book.forget(app)
        }
    }

    /// Removes all bindings, so that no more calls arrive through them.
    func stop() {
        for (app, entry) in entries { end(entry, of: app) }
    }

    private func end(_ entry: Entry, of app: AppID) {
        entries[app] = nil
        book.forget(app)
        ending.append(entry)
        entry.registration?.stop()
    }

    private static func note(_ status: TrunkRegistration.Status, _ logger: Logger) {
        switch status {
        case .registered(let lifetime):
            PhoneMetrics.shared.registrations.increment(.registered)
            logger.info("registered at the trunk", metadata: ["seconds": "\(lifetime.components.seconds)"])
        case .lost(let status, _):
            PhoneMetrics.shared.registrations.increment(.lost)
            logger.warning(
                "not registered at the trunk", metadata: ["status": "\(status.map(String.init) ?? "no answer")"])
        case .ended:
            logger.info("no longer registered at the trunk")
        }
    }
}

extension TrunkRegistrationTarget {
    /// The registration that a trunk requires; nil when it requires none.
    fileprivate init?(_ trunk: SIPTrunk) {
        guard trunk.register, let name = trunk.authUser, let user = PhoneTarget(callee: name)?.user else { return nil }
        let host = SIPEncoding.uriHost(trunk.host)
        self.init(
            registrar: "sip:\(host):\(trunk.port);transport=\(trunk.transport.rawValue)",
            account: "sip:\(user)@\(trunk.fromDomain ?? host)", contactUser: user, transport: trunk.transport,
            credentials: trunk.secret.map { DigestCredentials(username: name, password: $0) })
    }
}
