internal import Logging
internal import Metrics
internal import PostgresStore
internal import ServiceLifecycle

/// Once a minute, deletes the rows of channels that ended long ago from PostgreSQL, and surveys channels that Redis has lost.
/// Every instance deletes; rows that another has locked are skipped.
struct ChannelRetention: Service {
    private static let pause = Duration.seconds(60)

    let store: AttributeStore
    let retention: Duration
    let survey: ChannelSurvey
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    var count: Int
                    repeat {
                        count = try await store.forgetChannels(unchangedFor: retention)
                        ChannelMetrics.forgotten.increment(by: Int64(count))
                    } while count == AttributeStore.forgetBatch && !Task.isCancelled
                    try await survey.run()
                } catch {
                    logger.debug(
                        "could not look through the channels kept in PostgreSQL", metadata: ["error": "\(error)"])
                }
                // Shutdown cancels the pause, and with it the loop.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
