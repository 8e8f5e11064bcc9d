internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// The registrations of all trunks that require one, kept in accordance with the trunk table.
@SIPThread
struct TrunkRegistrations {
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

    /// The number of bindings that are being removed.
    var endingCount: Int { ending.count { !$0.isEnded } }

    /// Starts, replaces and ends registrations according to the table.
    mutating func follow(_ trunks: [SIPTrunk], stack: SIPStack, logger: Logger) {
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
        for (app, entry) in entries where wanted[app] != entry.target {
            end(entry)
            entries[app] = nil
        }
        for (app, target) in wanted where entries[app] == nil {
            var logger = logger
            logger[metadataKey: "app"] = "\(app)"
            let entry = Entry(target: target)
            let registration = TrunkRegistration(stack: stack, target: target) { [logger, unowned entry] status in
                entry.isEnded = status == .ended
                Self.note(status, logger)
            }
            entry.registration = registration
            entries[app] = entry
            registration.start()
        }
    }

    /// Removes all bindings, so that no more calls arrive through them.
    mutating func stop() {
        for entry in entries.values { end(entry) }
        entries = [:]
    }

    private mutating func end(_ entry: Entry) {
        ending.append(entry)
        entry.registration?.stop()
    }

    private static func note(_ status: TrunkRegistration.Status, _ logger: Logger) {
        switch status {
        case .registered(let lifetime):
            PhoneMetrics.shared.registrations.increment(.registered)
            logger.info("registered at the trunk", metadata: ["seconds": "\(lifetime.components.seconds)"])
        case .lost(let status):
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
