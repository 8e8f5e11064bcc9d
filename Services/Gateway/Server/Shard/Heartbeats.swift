internal import ServiceKit

/// Renews leases periodically.
enum Heartbeats {
    /// Calls `beat` for each member after each pause, until cancelled. Heartbeats do not wait for each other: a slow
    /// reply or a broken connection delays no other heartbeat.
    static func run<Member: Sendable>(
        of members: [Member], every pause: Duration, _ beat: @escaping @Sendable (Member) async -> Void
    ) async {
        await withDiscardingTaskGroup { beats in
            while await Task.pause(pause) {
                for member in members { beats.addTask { await beat(member) } }
            }
        }
    }
}
