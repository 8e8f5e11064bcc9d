package import Logging
internal import ServiceLifecycle

/// Work that is repeated with pauses.
package struct PeriodicTask: Sendable {
    /// The pause after each round, whether it succeeded or not.
    private let pause: Duration
    /// The range from which a factor of the pause is drawn each time, so that processes do
    /// not all work at the same moment.
    private let jitter: ClosedRange<Double>
    /// Logged when a round fails.
    private let complaint: Logger.Message
    /// The level of ``complaint``.
    private let level: Logger.Level
    /// The logger of ``complaint``.
    private let logger: Logger

    /// Creates a task. By default the pause has no jitter, and failures are logged as warnings.
    package init(
        every pause: Duration, jitter: ClosedRange<Double> = 1...1, complaint: Logger.Message,
        level: Logger.Level = .warning, logger: Logger
    ) {
        self.pause = pause
        self.jitter = jitter
        self.complaint = complaint
        self.level = level
        self.logger = logger
    }

    /// Runs a round, pauses, and so on, until graceful shutdown or cancellation, which cancel the round too.
    package func run(_ round: @escaping @Sendable () async throws -> Void) async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await round()
                } catch {
                    logger.log(level: level, complaint, metadata: ["error": "\(error)"])
                }
                _ = await Task.pause(pause * Double.random(in: jitter))
            }
        }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Waits for a time span.
    /// - Returns: false when the task was cancelled.
    package static func pause(_ span: Duration) async -> Bool {
        do {
            try await sleep(for: span)
            return true
        } catch {
            return false
        }
    }
}
