internal import ClusterState
package import NIOCore
package import SignalingProtocol

/// What is known of the masters. All on ``eventLoop`` only, unless said otherwise.
extension RedisClient {
    /// Registers a callback for each connect of a master, once it has the libraries, and for each takeover of slots by
    /// a master that is connected: what was sent to these slots before may be lost. Also called soon for the masters
    /// that are connected already. May be called from any thread; the callback runs on the loop.
    /// - Parameter callback: gets the slots of the master, all on a single server.
    package func onConnected(_ callback: @escaping @Sendable (_ slots: SlotScope) -> Void) {
        backend.onConnected(callback)
    }

    /// The present term of the master that owns a slot; nil while it is not known or not connected.
    package func term(ofSlot slot: UInt16) -> MasterTerm? { backend.term(ofSlot: slot) }

    /// Whether commands can be sent to all masters, whatever the slot.
    package var isWhole: Bool { backend.isWhole }

    /// Whether a command of a slot would be sent at once, not held back until its master is known and answers.
    package func isReachable(slot: UInt16) -> Bool { backend.isReachable(slot: slot) }

    /// Whether a command would be sent at once; see ``isReachable(slot:)``.
    package func isReachable(_ command: RedisCommand) -> Bool { backend.isReachable(slot: command.slot) }

    /// Whether more than half of the masters answer, but not the one that owns a slot; never on a single server.
    /// May be called from any thread.
    package func answersWithout(slot: UInt16) async -> Bool {
        await read { self.isConnected && !self.isReachable(slot: slot) }
    }

    /// Whether more than half of the masters own none of these slots. On a single server: whether there are none.
    package func mostMastersOwnNone(of slots: some Sequence<UInt16>) -> Bool {
        let masters = slotsOfMasters.count
        return (masters - Set(slots.compactMap { owner(ofSlot: $0) }).count) * 2 > masters
    }

    /// One slot of each master, to reach all of them: 0 on a single server, none while a
    /// cluster's masters are not known.
    package var slotsOfMasters: [UInt16] { backend.slotsOfMasters }

    /// The clock of the master that owns a slot; nil while none is known.
    package func clock(ofSlot slot: UInt16) -> RedisClock? { backend.clock(ofSlot: slot) }

    /// The server that owns a slot; nil while none is known.
    package func owner(ofSlot slot: UInt16) -> NodeAddress? { backend.owner(ofSlot: slot) }

    /// A moment of this process by the clock of the master that owns a slot; nil while that is not known. Called for
    /// every message, so without a `Duration`, which would cost a division of 128 bits.
    package func redisTime(at moment: NIODeadline, ofSlot slot: UInt16) -> RedisTime? {
        guard let now = clock(ofSlot: slot)?.now else { return nil }
        let left = max(0, (moment - .now()).nanoseconds)
        return RedisTime(milliseconds: now.milliseconds + left / 1_000_000)
    }

    /// When a command that is sent now fails at the latest; a command that may be repeated has a time of its own.
    package var commandEnd: NIODeadline { .now() + backend.longestWait }

    /// By how much the clocks of the masters differ; nil with fewer than two of them.
    package var clockSpread: Duration? { backend.clockSpread }

    /// Whether Redis can be used, as far as the connections show it.
    package var readiness: RedisReadiness { backend.readiness }

    /// Whether Redis can be used; a single server is asked. May be called from any thread.
    package func checkReadiness() async -> RedisReadiness { await backend.checkReadiness() }

    /// Reads something on the loop; may be called from any thread.
    package func read<Value: Sendable>(_ value: @escaping @Sendable () -> Value) async -> Value {
        await eventLoop.completed(value)
    }
}
