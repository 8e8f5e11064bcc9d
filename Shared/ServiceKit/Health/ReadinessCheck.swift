/// Something that a service can't work without.
package struct ReadinessCheck: Sendable {
    /// The dependency's name, as in `redis`.
    package let name: String
    /// Tells what is wrong with it; nil when it answers. Given up on after ``HealthResponder/checkTimeout``.
    package let check: @Sendable () async -> String?

    /// Creates a check.
    package init(name: String, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.check = check
    }
}
