internal import CMediaNode
internal import ServiceMetrics
internal import Synchronization

/// Brings what the loop has counted into the metrics, as often as they are shown.
struct MediaCounting: ~Copyable, Sendable {
    private let last = Mutex(cm_node_counts())
    private let metrics = MediaMetrics.shared

    /// Takes the loop's counts, which only grow.
    func take(_ now: cm_node_counts) {
        let before = last.withLock { last in
            defer { last = now }
            return last
        }
        metrics.participants.set(Int(now.participants))
        metrics.channels.set(Int(now.channels))
        addTraffic(now, before)
        addReasons(now, before)
        addTimes(now, before)
        add(.uplink, now.uplink, before.uplink)
        add(.downlink, now.downlink, before.downlink)
    }

    private func addTraffic(_ now: cm_node_counts, _ before: cm_node_counts) {
        metrics.packets.increment(.received, by: Int(now.packets_received - before.packets_received))
        metrics.packets.increment(.sent, by: Int(now.packets_sent - before.packets_sent))
        metrics.bytes.increment(.received, by: Int(now.bytes_received - before.bytes_received))
        metrics.bytes.increment(.sent, by: Int(now.bytes_sent - before.bytes_sent))
        metrics.checks.increment(by: Int(now.checks - before.checks))
        metrics.checksRefused.increment(by: Int(now.checks_refused - before.checks_refused))
        metrics.handshakes.increment(.done, by: Int(now.handshakes_done - before.handshakes_done))
        metrics.handshakes.increment(.failed, by: Int(now.handshakes_failed - before.handshakes_failed))
        metrics.slotSwitches.increment(by: Int(now.slot_switches - before.slot_switches))
    }

    private func addReasons(_ now: cm_node_counts, _ before: cm_node_counts) {
        let dropped = Self.growth(now.dropped, before.dropped)
        for reason in MediaDrop.allCases { metrics.dropped.increment(reason, by: dropped[Int(reason.code.rawValue)]) }
        let events = Self.growth(now.events, before.events)
        for kind in MediaHappening.allCases { metrics.happenings.increment(kind, by: events[Int(kind.code.rawValue)]) }
    }

    private func addTimes(_ now: cm_node_counts, _ before: cm_node_counts) {
        metrics.delay.add(
            Self.growth(now.delays, before.delays), sum: Double(now.delay_sum - before.delay_sum) / 1_000_000)
        let ticks = now.ticks - before.ticks
        metrics.ticks.increment(by: Int(ticks))
        if ticks > 0 { metrics.lag.set(Double(now.lag_sum - before.lag_sum) / 1_000_000 / Double(ticks)) }
        metrics.lagMost.set(Double(now.lag_max) / 1_000_000)
    }

    private func add(_ way: MediaWay, _ now: cm_way_counts, _ before: cm_way_counts) {
        metrics.audioExpected.increment(way, by: Int(now.audio_expected - before.audio_expected))
        metrics.audioLost.increment(way, by: Int(now.audio_lost - before.audio_lost))
        metrics.jitter[way]?.add(
            Self.growth(now.jitters, before.jitters), sum: Double(now.jitter_sum - before.jitter_sum) / 1_000_000)
    }

    /// An array of C is a tuple in Swift: its numbers, less what they were before.
    private static func growth<Numbers>(_ now: Numbers, _ before: Numbers) -> [Int] {
        withUnsafeBytes(of: now) { now in
            withUnsafeBytes(of: before) { before in
                zip(now.bindMemory(to: UInt64.self), before.bindMemory(to: UInt64.self)).map { Int($0 - $1) }
            }
        }
    }
}
