/// An error reply of a server that did not carry out the command because of the state of the cluster: the command may
/// be sent again, to the same server or to another.
enum Refusal: Sendable, Equatable {
    /// The slot belongs to another server, nil when the reply does not name it.
    case moved(NodeAddress?)
    /// The slot is being moved: the key, if it exists, is on this server already; nil when the reply does not name it.
    case ask(NodeAddress?)
    /// The slot is being moved, and the command's keys are not all on this server.
    case tryAgain
    /// Nobody serves the slot, or the server sees too little of the cluster to serve anything.
    case clusterDown
    /// Too few replicas are connected for writing (`min-replicas-to-write`).
    case noReplicas
    /// The server is a replica now.
    case readOnly
    /// The server is reading its data from disk.
    case loading
    /// The server is a replica without its master, and may not answer from old data.
    case masterDown

    /// Nil when the error is not a refusal.
    /// - Parameter node: the server that replied.
    init?(_ error: RedisError, by node: NodeAddress) {
        switch error.code {
        case .moved: self = .moved(Self.target(error, by: node))
        case .ask: self = .ask(Self.target(error, by: node))
        case .tryAgain: self = .tryAgain
        case .clusterDown: self = .clusterDown
        case .noReplicas: self = .noReplicas
        case .readOnly: self = .readOnly
        case .loading: self = .loading
        case .masterDown: self = .masterDown
        default: return nil
        }
        // An error of a command within a function: what the function wrote before it has taken effect.
        if error.message.contains(" script: ") { return nil }
    }

    /// The first word of the reply.
    var code: RedisError.Code {
        switch self {
        case .moved: .moved
        case .ask: .ask
        case .tryAgain: .tryAgain
        case .clusterDown: .clusterDown
        case .noReplicas: .noReplicas
        case .readOnly: .readOnly
        case .loading: .loading
        case .masterDown: .masterDown
        }
    }

    /// The address in `SLOT host:port`.
    private static func target(_ error: RedisError, by node: NodeAddress) -> NodeAddress? {
        let words = error.message.split(separator: " ", maxSplits: 1)
        return words.count == 2 ? NodeAddress(redirect: words[1], asked: node) : nil
    }
}

/// The error codes of a server that refuses because of the state of the cluster; see ``Refusal``.
extension RedisError.Code {
    static let moved = Self(rawValue: "MOVED")
    static let ask = Self(rawValue: "ASK")
    static let tryAgain = Self(rawValue: "TRYAGAIN")
    static let clusterDown = Self(rawValue: "CLUSTERDOWN")
    static let noReplicas = Self(rawValue: "NOREPLICAS")
    static let readOnly = Self(rawValue: "READONLY")
    package static let loading = Self(rawValue: "LOADING")
    static let masterDown = Self(rawValue: "MASTERDOWN")
}
