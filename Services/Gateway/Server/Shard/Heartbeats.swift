/// Renews leases periodically.
enum Heartbeats {
    /// Beats for each member after each pause, until cancelled. No heartbeat waits for another, of its member or of others: a
    /// slow answer or a broken connection costs the others nothing.
    static func run<Member: Sendable>(
        of members: [Member], every pause: Duration, _ beat: @escaping @Sendable (Member) async -> Void
    ) async {
        await withDiscardingTaskGroup { beats in
            while !Task.isCancelled {
                do { try await Task.sleep(for: pause) } catch { return }
                for member in members { beats.addTask { await beat(member) } }
            }
        }
    }
}
