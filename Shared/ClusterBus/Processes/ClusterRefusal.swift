package import ClusterState

/// Why a process must not serve this cluster. Trying again helps only after the cluster itself has changed.
package enum ClusterRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// Redis is not run as the setting says, or cannot be used as it is run.
    case redis(String)
    /// The data in Redis have another layout; `found` is that layout as recorded there.
    case layout(found: String, needed: RedisLayout)
    /// There are running processes whose level differs from this build's by more than one.
    case level(own: Int64, running: Int64)

    /// One line for the log.
    package var description: String {
        switch self {
        case .redis(let reason): reason
        case .layout(let found, let needed):
            "Redis holds data of another layout (\(found)); this build needs \(needed)"
        case .level(let own, let running):
            "this build has level \(own), and processes of level \(running) run: only neighbouring levels work "
                + "together, see `heliographctl versions`"
        }
    }

    /// Compares the build's level with those of the running processes; nil when all are neighbouring or none runs.
    init?(own: Int64, running levels: [Int64]) {
        guard let far = levels.max(by: { abs($0 - own) < abs($1 - own) }), abs(far - own) > 1 else { return nil }
        self = .level(own: own, running: far)
    }
}
