internal import ClusterState
internal import InvitationLogic
internal import Logging
internal import MessageStore
internal import Metrics
internal import RedisStore
internal import SignalingProtocol

/// Ends the calls of sip-bridges whose lease has ended.
struct BridgeWatch: Sendable {
    /// Calls that are ended at once.
    private static let batch = 50

    let leases: GatewayLeases
    let records: CallRecordStore
    let phones: PhoneDispatch
    let driver: CallDriver
    let uptime: RedisUptime
    let logger: Logger

    /// The bridge's timer fired.
    func check(_ bridge: GatewayID) async throws(SignalingError) {
        guard let heartbeat = try await lastHeartbeat(of: bridge) else { return }
        if heartbeat != 0, let later = try await postponement() {
            return try await schedule(InvitationTimer.bridge(bridge).member, at: later)
        }
        let calls = try await records.calls(of: bridge)
        // A bridge that gave its lease back has no heartbeat any more.
        let hasLeft = heartbeat == 0 && calls.isEmpty
        logger.log(
            level: hasLeft ? .info : .warning, hasLeft ? "a sip-bridge has left" : "a sip-bridge is lost",
            metadata: ["bridge": "\(bridge)", "calls": "\(calls.count)"])
        for start in stride(from: 0, to: calls.count, by: Self.batch) {
            try await end(calls[start..<min(start + Self.batch, calls.count)], of: bridge)
        }
        // A bridge that is back was told that its lease had ended, and let go of its calls; its stream is in use.
        guard try await lastHeartbeat(of: bridge) != nil else { return }
        do throws(RedisError) {
            try await phones.close(bridge)
            try await leases.forget(bridge)
        } catch {
            throw error.signaling
        }
        if !hasLeft { InvitationMetrics.bridgesLost.increment() }
    }

    private func end(_ calls: ArraySlice<CallReference>, of bridge: GatewayID) async throws(SignalingError) {
        let results = await withTaskGroup(of: Result<Void, SignalingError>.self) { group in
            for reference in calls {
                group.addTask {
                    do throws(SignalingError) { return .success(try await end(reference, of: bridge)) } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // One that failed has the timer fire again; the others find themselves done then.
        for result in results { try result.get() }
    }

    private func end(_ reference: CallReference, of bridge: GatewayID) async throws(SignalingError) {
        let command = CommandContext(id: CommandID(reference.call.rawValue).derived("bridge-lost"), deadline: 0)
        try await driver.play(reference.tag, command) { machine, now throws(SignalingError) in
            machine.bridgeLost(bridge, call: reference.call, now: now)
        }
        // The record may have been replaced or expired, and then nothing released it.
        try await records.release(reference, by: bridge)
        logger.notice(
            "a call ended because its sip-bridge is lost",
            metadata: ["bridge": "\(bridge)", "call": "\(reference.call)"])
    }

    /// When the lease may be judged, if not now (Redis clock, ms): while Redis was away nobody could renew it.
    private func postponement() async throws(SignalingError) -> Int64? {
        let now = try await driver.records.load("{}", command: CommandID("")).now
        guard let from = uptime.mayEnd(after: LeaseFleet.bridges.timeToLive) else { return now + 1000 }
        return from > now ? from : nil
    }

    private func schedule(_ timer: String, at time: Int64) async throws(SignalingError) {
        do throws(RedisError) { try await driver.timers.schedule(timer, atMilliseconds: time) } catch {
            throw error.signaling
        }
    }

    /// Nil while the lease lives.
    private func lastHeartbeat(of bridge: GatewayID) async throws(SignalingError) -> Int64? {
        do throws(RedisError) { return try await leases.lost(bridge) } catch { throw error.signaling }
    }
}
