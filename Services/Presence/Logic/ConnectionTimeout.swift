internal import SignalingProtocol

/// The number of seconds for which a session outlives its connection. Source: Signaling API, `_conn_timeout`.
package enum ConnectionTimeout {
    /// The seconds for an attribute's value: clamped to ``Limits/connectionTimeout``; the default when there is no
    /// value, or an old one that is not an integer, because values were once not checked.
    package static func seconds(_ value: String?) -> Int {
        guard let value, let seconds = Int(value) else { return Limits.connectionTimeoutDefault }
        return min(max(seconds, Limits.connectionTimeout.lowerBound), Limits.connectionTimeout.upperBound)
    }
}
