internal import ClusterBus
internal import ClusterService
internal import InvitationLogic
internal import Logging
internal import ServiceMetrics
internal import SignalingProtocol

/// Ends the calls of sip-bridges whose lease has ended.
struct LostBridges: Sendable {
    /// The number of calls that are ended concurrently.
    private static let batch = 50

    let watch: LeaseWatch<BridgeID, InvitationTimer>
    let driver: CallDriver
    let logger: Logger

    /// Handles a bridge's timer.
    func check(_ bridge: BridgeID) async throws(SignalingError) {
        guard let lease = try await watch.ended(bridge) else { return }
        let calls = try await driver.records.calls(of: bridge)
        let hasStopped = lease.isGivenBack && calls.isEmpty
        logger.log(
            level: hasStopped ? .info : .warning, hasStopped ? "sip-bridge has stopped" : "sip-bridge is lost",
            metadata: ["bridge": "\(bridge)", "calls": "\(calls.count)"])
        for start in stride(from: 0, to: calls.count, by: Self.batch) {
            try await end(calls[start..<min(start + Self.batch, calls.count)], of: bridge)
        }
        // A bridge that is back knows that its lease had ended, and has given up its calls; its stream is in use.
        if try await watch.isBack(bridge) { return }
        try await driver.phones.close(bridge)
        let isFirst = try await watch.forget(bridge, lease)
        if !hasStopped, isFirst { InvitationMetrics.shared.bridgesLost.increment() }
    }

    private func end(_ calls: ArraySlice<CallReference>, of bridge: BridgeID) async throws(SignalingError) {
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
        // If one has failed, the timer fires again, and the others are then found ended.
        for result in results { try result.get() }
    }

    private func end(_ reference: CallReference, of bridge: BridgeID) async throws(SignalingError) {
        let command = CommandContext(id: CommandID(reference.call.rawValue).derived("bridge-lost"))
        try await driver.play(reference.tag, command) { machine, now throws(SignalingError) in
            machine.bridgeLost(bridge, call: reference.call, now: now)
        }
        // The record may have been replaced or have expired; then nothing has released the call.
        try await driver.records.release(reference, by: bridge)
        logger.notice(
            "ended a call whose sip-bridge is lost",
            metadata: ["bridge": "\(bridge)", "call": "\(reference.call)"])
    }
}
