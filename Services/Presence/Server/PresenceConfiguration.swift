package import ServiceKit

/// The settings of a presence process.
package struct PresenceConfiguration: Sendable {
    /// Whether sessions are copied into PostgreSQL; default true.
    package var mirrors = true

    /// The default settings.
    package init() {}

    /// Reads `HELIOGRAPH_MIRRORS`.
    package init(reading environment: inout EnvironmentReader) {
        mirrors = environment.bool("MIRRORS", default: true, "whether sessions are copied into PostgreSQL")
    }
}
