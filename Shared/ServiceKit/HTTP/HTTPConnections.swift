internal import NIOCore
internal import ServiceMetrics
internal import Synchronization

/// The open connections of a listener, up to a bound.
final class HTTPConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private static let refused = Counter(
        "heliograph_http_connections_refused_total", "Connections refused because the HTTP listener had too many.")

    private let bound: Int
    private let state = Mutex(State())

    init(bound: Int) {
        // Declares them.
        _ = Self.refused
        HTTPHeadBound.declare()
        self.bound = bound
    }

    /// Adds a new connection, and removes it when it closes. Returns false when there are too
    /// many or ``closeAll()`` was called.
    func admit(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isAdmitted = state.withLock { state in
            guard !state.isClosed, state.channels.count < bound else { return false }
            state.channels[id] = channel
            return true
        }
        guard isAdmitted else {
            Self.refused.increment()
            return false
        }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.channels[id] = nil } }
        return true
    }

    /// Closes all connections, and those accepted later.
    func closeAll() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
