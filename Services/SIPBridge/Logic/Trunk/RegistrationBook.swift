package import Pacing
package import SignalingProtocol

/// How a trunk's registration stands.
package enum RegistrationStanding: Equatable, Sendable {
    /// Calls can arrive.
    case registered
    /// The registrar's response to the last REGISTER; 200 when it took it, and lists no binding of ours.
    case refused(status: Int)
    /// There was no response to the last REGISTER.
    case unanswered
}

/// How the registrations of a bridge's trunks stand, and for which of them operators have not been told yet. What is
/// noted twice between two looks is told once, as it is then.
package struct RegistrationBook {
    /// How a registration stands, and until when without further notice.
    package struct Entry: Equatable, Sendable {
        /// How it stands.
        package var standing: RegistrationStanding
        /// The end of the binding; for the others, when the next REGISTER must have had its outcome.
        package var end: LocalTime
    }

    private var entries: [AppID: Entry] = [:]
    private var untold: Set<AppID> = []

    /// Knows of no registration.
    package init() {}

    /// Notes how an app's registration stands.
    /// - Parameter end: see ``Entry/end``.
    package mutating func note(_ standing: RegistrationStanding, of app: AppID, until end: LocalTime) {
        entries[app] = Entry(standing: standing, end: end)
        untold.insert(app)
    }

    /// Forgets an app's registration, which has ended.
    package mutating func forget(_ app: AppID) {
        guard entries.removeValue(forKey: app) != nil else { return }
        untold.insert(app)
    }

    /// The number of trunks whose bindings exist.
    package func registered(at now: LocalTime) -> Int {
        entries.values.count { $0.standing == .registered && $0.end > now }
    }

    /// Takes what was not told yet, by app; nil for registrations that have ended.
    /// - Parameter most: the number of apps taken; the others wait.
    package mutating func takeUntold(atMost most: Int) -> [AppID: Entry?] {
        var taken: [AppID: Entry?] = [:]
        for app in untold.prefix(most) { taken.updateValue(entries[app], forKey: app) }
        untold.subtract(taken.keys)
        return taken
    }

    /// Puts apps back that could not be told of.
    package mutating func putBack(_ apps: some Sequence<AppID>) { untold.formUnion(apps) }
}
