internal import SignalingProtocol

/// Seconds that a session outlives its connection. Source: Signaling API, `_conn_timeout`.
package enum ConnectionTimeout {
    /// The seconds that an attribute's value means: clamped to ``Limits/connectionTimeout``; the default when there is no
    /// value, or one that is no integer (kept from a time when it was not checked).
    package static func seconds(_ value: String?) -> Int {
        guard let value, let seconds = Int(value) else { return Limits.connectionTimeoutDefault }
        return min(max(seconds, Limits.connectionTimeout.lowerBound), Limits.connectionTimeout.upperBound)
    }
}
