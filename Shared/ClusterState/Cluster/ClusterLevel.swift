/// How far a build's formats are: of commands, events, records in Redis and tables.
///
/// Processes of two neighbouring levels work side by side. What a level brings is written only when every living process has that
/// level: ask for the cluster's level before writing a new form.
package enum ClusterLevel {
    /// This build's level. Goes up by one in each release that changes any form that another process reads; `Docs/upgrades.md`
    /// says which changes those are.
    package static let current: Int64 = 1
}
