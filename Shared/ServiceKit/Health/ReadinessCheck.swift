/// A dependency that a service needs to be ready.
package struct ReadinessCheck: Sendable {
    /// The dependency's name, as in `redis`.
    package let name: String
    /// Asks the dependency: nil when it answers, else what is wrong. A check that takes longer than
    /// ``HealthResponder/checkTimeout`` counts as failed.
    package let check: @Sendable () async -> String?

    /// Creates a check.
    package init(name: String, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.check = check
    }
}
