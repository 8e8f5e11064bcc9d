/// How the cluster's data are laid out in Redis. Written once, by the first process; a process of another layout must
/// not serve, because it would look for the same data elsewhere.
package struct RedisLayout: Equatable, Sendable, CustomStringConvertible {
    /// Whether Redis is one server or a cluster.
    package enum Flavour: String, CaseIterable, Sendable {
        /// One server, with or without replicas: it holds all keys and topics.
        case single
        /// Redis Cluster.
        case cluster
    }

    /// Whether Redis is one server or a cluster.
    package var flavour: Flavour
    /// The number of hash tags that users share, see ``Buckets``.
    package var buckets: Int
    /// The number of streams and of sets of timers that each service has.
    package var partitions: Int
    /// The version of the keys: increased when names or types of keys change in any other way.
    package var keys: Int

    package init(flavour: Flavour, buckets: Int, partitions: Int, keys: Int) {
        self.flavour = flavour
        self.buckets = buckets
        self.partitions = partitions
        self.keys = keys
    }

    /// The layout that this build reads and writes.
    package static let current = RedisLayout(flavour: .single, buckets: Buckets.count, partitions: 1, keys: 2)

    /// All of it, for a log line.
    package var description: String {
        "flavour \(flavour.rawValue), \(buckets) buckets, \(partitions) partitions, key version \(keys)"
    }
}
