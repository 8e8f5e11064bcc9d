internal import SignalingProtocol

/// How long a session outlives its connection. Source: Signaling API, `_conn_timeout`.
package enum ConnectionTimeout {
    /// The timeout that an attribute's value sets, clamped to ``Limits/connectionTimeout``. The default when there is
    /// no value, or an old one that is not an integer, because values were once not checked.
    package static func duration(_ value: String?) -> Duration {
        guard let value, let seconds = Int(value) else { return .seconds(Limits.connectionTimeoutDefault) }
        return .seconds(min(max(seconds, Limits.connectionTimeout.lowerBound), Limits.connectionTimeout.upperBound))
    }
}
