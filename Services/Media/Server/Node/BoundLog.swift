internal import Logging
internal import SignalingProtocol
internal import Synchronization

/// Logs that a bound was hit: for each reason once a second, with the number of times that were not logged.
final class BoundLog: Sendable {
    /// The shortest time between two lines about a reason.
    static let pause = Duration.seconds(1)

    private struct Line {
        var loggedAt: ContinuousClock.Instant
        var skipped = 0
    }

    private let lines = Mutex<[MediaRefusal: Line]>([:])
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// A join or a participant was ended or refused by a bound.
    func hit(_ reason: MediaRefusal, in channel: MediaChannelKey, now: ContinuousClock.Instant) {
        let skipped = lines.withLock { lines -> Int? in
            if let line = lines[reason], line.loggedAt + Self.pause > now {
                lines[reason]?.skipped += 1
                return nil
            }
            return lines.updateValue(Line(loggedAt: now), forKey: reason)?.skipped ?? 0
        }
        guard let skipped else { return }
        var metadata: Logger.Metadata = [
            "reason": "\(reason.rawValue)", "app": "\(channel.app)", "channel": "\(channel.name)",
        ]
        if skipped > 0 { metadata["more"] = "\(skipped)" }
        logger.warning("a bound of the media node was hit", metadata: metadata)
    }
}

extension MediaRefusal {
    /// Whether it tells of a bound of the node or of a channel, not of what the client has sent.
    var isOfABound: Bool {
        switch self {
        case .channelFull, .refused, .rateLimited: true
        case .unknownApp, .invalidChannel, .invalidUID, .invalidArguments, .badOffer, .keyRequired, .malformedKey,
            .wrongKey, .keyExpired, .unsupportedMedia, .unknownParticipant, .noNode, .nodeUnreachable, .draining:
            false
        }
    }
}
