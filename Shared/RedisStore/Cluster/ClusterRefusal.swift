package import ClusterState

/// Why a process must not serve this cluster. Trying again does not help as long as the cluster is as it is.
package enum ClusterRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The data in Redis are laid out in another way; the text is what the record there says.
    case layout(found: String, needed: RedisLayout)
    /// Processes of a level run that is more than one apart.
    case level(own: Int64, running: Int64)

    /// One line for the log.
    package var description: String {
        switch self {
        case .layout(let found, let needed):
            "Redis holds data of another layout (\(found)); this build needs \(needed)"
        case .level(let own, let running):
            "this build has level \(own), and processes of level \(running) run: only neighbouring levels work "
                + "together, see `heliographctl versions`"
        }
    }

    /// Judges the levels of the running processes; none is fine.
    init?(own: Int64, running levels: [Int64]) {
        guard let far = levels.max(by: { abs($0 - own) < abs($1 - own) }), abs(far - own) > 1 else { return nil }
        self = .level(own: own, running: far)
    }
}
