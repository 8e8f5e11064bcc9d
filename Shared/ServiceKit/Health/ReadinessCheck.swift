internal import SignalingWire

/// A check of one dependency without which a service is not ready.
package struct ReadinessCheck: Sendable {
    /// What a check has found.
    package enum Outcome: Sendable, Equatable {
        /// The dependency can be used.
        /// - Parameter remark: what is wrong with it nevertheless; nil for nothing.
        case works(remark: String? = nil)
        /// The dependency cannot be used, for this reason.
        case fails(String)
    }

    /// The dependency's name, such as `redis`.
    package let name: String
    /// Checks the dependency. A check that takes longer than ``HealthResponder/checkTimeout`` counts as failed.
    package let outcome: @Sendable () async -> Outcome

    /// Creates a check that returns nil when the dependency works, else what is wrong.
    package init(name: String, check: @escaping @Sendable () async -> String?) {
        self.name = name
        outcome = { await check().map(Outcome.fails) ?? .works() }
    }

    private init(name: String, outcome: @escaping @Sendable () async -> Outcome) {
        self.name = name
        self.outcome = outcome
    }

    /// A check of a dependency that can be used even when something is wrong with it.
    package static func withRemarks(
        name: String, outcome: @escaping @Sendable () async -> Outcome
    ) -> ReadinessCheck {
        ReadinessCheck(name: name, outcome: outcome)
    }

    /// Nil when the dependency can be used, else the reason why it cannot.
    package func check() async -> String? {
        switch await outcome() {
        case .works: nil
        case .fails(let reason): reason
        }
    }
}

/// A fact about the process that `/healthz` shows.
package struct HealthDetail: Sendable {
    let member: JSONMember

    /// A fact with a text value.
    package init(_ name: String, _ text: String) {
        member = JSONMember(name, text)
    }

    /// A fact with a number as its value.
    package init(_ name: String, _ number: Int) {
        member = JSONMember(name, number)
    }
}
