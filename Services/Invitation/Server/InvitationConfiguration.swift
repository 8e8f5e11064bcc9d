internal import InvitationLogic
public import ServiceKit

/// The service's own settings.
public struct InvitationConfiguration: Sendable {
    /// How long an acknowledged invitation rings; default 60 s. Source: wire protocol, section 12.
    public var ringLimit: Duration = .seconds(60)
    /// Connections to PostgreSQL; default 2: the call log goes there, and trunks come from there.
    public var postgresConnections = 2

    /// The defaults.
    public init() {}

    /// Reads `HELIOGRAPH_INVITATION_RING_LIMIT`.
    public init(reading reader: inout EnvironmentReader) {
        ringLimit = reader.duration(
            "INVITATION_RING_LIMIT", default: .seconds(60), in: .seconds(1)...(.seconds(3600)),
            "how long an acknowledged invitation rings")
    }

    var durations: CallDurations {
        var durations = CallDurations()
        durations.ring = Int64(ringLimit / .milliseconds(1))
        return durations
    }
}
