internal import ChannelStateLogic
internal import ClusterService
internal import Logging
internal import PostgresStore
internal import ServiceMetrics
internal import SignalingProtocol

/// Handles the timers of channels: ends empty channels, announces counters, and publishes changes that a process had
/// committed before it died.
struct ChannelExpiry: Sendable {
    let functions: ChannelFunctions
    let cache: ChannelAttributeCache
    let changes: Batcher<ChannelAttributeChange, Int64>
    let timers: ServiceTimers<ChannelTimer>
    let counters: ChannelCounters
    let logger: Logger

    func fired(_ timer: ChannelTimer) async throws {
        switch timer {
        case .expiry(let channel): try await expire(channel)
        case .attributes(let channel): try await resynchronize(channel)
        case .counter(let counter, let channel): try await counters.fired(counter, channel)
        }
    }

    private func expire(_ channel: ChannelKey) async throws {
        switch try await functions.expiry(channel) {
        case .wait(let until):
            try await timers.set(.expiry(channel), at: until)
        case .due:
            guard channel.name.special == nil else { return }
            try await end(channel)
        case .ended(let time):
            try await functions.recordEnd(of: channel, time)
            // Somebody may have used the channel again meanwhile.
            try await expire(channel)
        case .idle:
            // Somebody may have joined or followed the channel meanwhile.
            if try await !functions.delete(channel, version: 0) { try await expire(channel) }
        case .none:
            break
        }
    }

    /// Clears PostgreSQL before Redis: if this process dies in between, the timer still finds the channel.
    private func end(_ channel: ChannelKey) async throws {
        let account = try Account("system")
        // A channel that never had an attribute leaves nothing in PostgreSQL.
        if try await functions.cached(channel).version == 0 {
            if try await functions.delete(channel, version: 0) { try await ended(channel) }
            return
        }
        let command = CommandID("expiry-\(SecureRandom.hex(bytes: 12))")
        let version = try await changes.submit(
            ChannelAttributeChange(command: command, channel: channel, account: account, change: .clear))
        if try await functions.delete(channel, version: version) {
            try await ended(channel)
        } else {
            // A user has joined after the clear: announces that the attributes were deleted.
            try await cache.load(channel, account: account, uid: 0)
        }
    }

    private func ended(_ channel: ChannelKey) async throws {
        // If this process dies before it is recorded, the timer fires again.
        try await expire(channel)
        ChannelMetrics.shared.expired.increment()
        logger.info("channel ended", metadata: ["app": "\(channel.app)", "channel": "\(channel.name)"])
    }

    private func resynchronize(_ channel: ChannelKey) async throws {
        try await cache.resynchronize(channel, account: try Account("system"))
        try await counters.settingsChanged(channel)
    }
}
