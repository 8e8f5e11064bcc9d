/// A check of one dependency without which a service is not ready.
package struct ReadinessCheck: Sendable {
    /// The dependency's name, such as `redis`.
    package let name: String
    /// Checks the dependency: nil when it works, else what is wrong. A check that takes longer than
    /// ``HealthResponder/checkTimeout`` counts as failed.
    package let check: @Sendable () async -> String?

    package init(name: String, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.check = check
    }
}
