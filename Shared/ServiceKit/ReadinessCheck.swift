/// Something that a service can't work without.
public struct ReadinessCheck: Sendable {
    /// The dependency's name, as in `redis`.
    public let name: String
    /// Tells what is wrong with it; nil when it answers. Given up on after ``HealthResponder/checkTimeout``.
    public let check: @Sendable () async -> String?

    /// Creates a check.
    public init(name: String, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.check = check
    }
}
