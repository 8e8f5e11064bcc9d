/// The version of the formats that a build uses: of commands, events, records in Redis and tables.
///
/// Processes of two successive levels work together. A new format is written only when every running process has its level: read
/// the cluster's level before writing it.
package enum ClusterLevel {
    /// This build's level. It is increased by one in each release that changes a format that other processes read; see
    /// `Docs/upgrades.md`.
    package static let current: Int64 = 1
}
