package import SignalingProtocol

/// What is written to a stream of its own, and from there into PostgreSQL.
package enum Mirror: Hashable, Sendable {
    /// The changes that a service makes, which it copies itself.
    case changes(ServiceName)
    /// The messages of apps whose webhooks tell of them. Gateways write them, invitation copies them.
    case messages

    /// All mirrors, also those of services that make no changes.
    package static let all = ServiceName.allCases.map { Mirror.changes($0) } + [.messages]

    /// The mirror's name in keys and metrics.
    package var name: String {
        switch self {
        case .changes(let service): service.rawValue
        case .messages: "messages"
        }
    }

    /// The service whose processes copy it.
    package var copier: ServiceName {
        switch self {
        case .changes(let service): service
        case .messages: .invitation
        }
    }

    /// The approximate number of entries that wait in a partition at most.
    package func entries(in partition: BusPartition) -> Int {
        switch self {
        case .changes: partition.isWhole ? ClusterBounds.mirrorEntries : ClusterBounds.partitionMirrorEntries
        case .messages:
            partition.isWhole ? ClusterBounds.messageMirrorEntries : ClusterBounds.partitionMessageMirrorEntries
        }
    }
}
