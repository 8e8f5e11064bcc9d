/// What a Sentinel publishes about the failover of a master. Source: Redis documentation, "Sentinel Pub/Sub messages".
///
/// Only the Sentinel that carries out a failover publishes its steps; the others publish `+switch-master` when they
/// hear of its result, up to two seconds later.
enum SentinelEvent: Sendable, Equatable {
    /// A replica is about to be promoted: what the present master acknowledges from now on may be lost. Published about
    /// 100 ms before the promotion, and about a second before it is known that it has succeeded.
    case began
    /// The replica is the master now.
    case promoted
    /// The Sentinel has taken over another master.
    case switched
    /// There will be no failover after all.
    case aborted

    /// The topics to subscribe to.
    static var topics: [String] { kinds.keys.sorted() }

    private static let kinds: [String: SentinelEvent] = [
        "+failover-state-select-slave": .began,
        "+failover-state-reconf-slaves": .promoted,
        "+switch-master": .switched,
        "-failover-abort-no-good-slave": .aborted,
        "-failover-abort-not-elected": .aborted,
        "-failover-abort-slave-timeout": .aborted,
    ]

    /// Reads a message: `NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT` of `+switch-master`, `master
    /// NAME HOST PORT` of the others.
    /// - Returns: nil for a message about another name or of another topic.
    init?(topic: String, message: String, name: String) {
        guard let kind = Self.kinds[topic] else { return nil }
        let words = message.split(separator: " ", omittingEmptySubsequences: false)
        let place = kind == .switched ? 0 : 1
        // A name with spaces is impossible: it is a word of the Sentinel's configuration.
        guard words.count == (kind == .switched ? 5 : 4), words[place] == name else { return nil }
        self = kind
    }
}
