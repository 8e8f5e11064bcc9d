internal import Pacing

/// Whether Redis can be used, and what is wrong with it, for `/readyz`.
package struct RedisReadiness: Sendable, Equatable {
    /// In a cluster: whether the masters are known and more than half of them answer.
    package var isReady: Bool
    /// What is wrong; nil when nothing is. A cluster may be ready and have a problem: then a part
    /// of the users cannot be served.
    package var problem: String?

    package static let ready = RedisReadiness(isReady: true, problem: nil)

    package init(isReady: Bool, problem: String?) {
        self.isReady = isReady
        self.problem = problem
    }
}

extension RedisReadiness {
    /// How far the masters' clocks may differ: deadlines that one has set are compared with the time of another.
    static let clockTolerance = Duration.milliseconds(500)
    /// The largest number of masters that a problem names.
    private static let named = 10

    /// - Parameter clockSpread: by how much the masters' clocks differ; nil when that is not known.
    init(_ cluster: ClusterReadiness, clockSpread: Duration?) {
        var problems: [String] = []
        if cluster.masters == 0 {
            problems.append("the masters are not known" + (cluster.lastFailure.map { ": \($0)" } ?? ""))
        }
        if !cluster.away.isEmpty {
            let names = cluster.away.map(\.description).sorted()
            let some = names.prefix(Self.named).joined(separator: ", ")
            let more = names.count > Self.named ? " and \(names.count - Self.named) more" : ""
            let total = cluster.masters > 1 ? ", of \(cluster.masters) masters" : ""
            problems.append("no answer from \(some)\(more)\(total)")
        }
        if !cluster.uncovered.isEmpty {
            problems.append("nobody serves the slots \(SlotMap.text(of: cluster.uncovered))")
        }
        if let clockSpread, clockSpread > Self.clockTolerance {
            problems.append("the masters' clocks are \(clockSpread.wholeMilliseconds / 100 * 100) ms apart")
        }
        self.init(isReady: cluster.isReady, problem: problems.isEmpty ? nil : problems.joined(separator: "; "))
    }
}
