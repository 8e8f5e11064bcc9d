/// The version of the formats that a build uses: of commands, events, records in Redis and tables.
///
/// Processes of two successive levels work together. The cluster's level is the least of its running processes; read it
/// (`ClusterInstance.clusterLevel`) before writing a format that the level before cannot read. A command says its level
/// itself (`ServiceCommand.level`).
///
/// Level 2 added the commands of the server API, bans and revoked tokens among them, the reassertion of detached
/// sessions, and the ends of channels in the mirror.
package enum ClusterLevel {
    /// This build's level. It is increased by one in each release that changes a format that other processes read; see
    /// `Docs/upgrades.md`.
    package static let current: Int64 = 2

    /// The name of this release in `CHANGELOG.md`, shown beside the level; nothing depends on it.
    package static let release = "Unreleased"
}
