internal import Logging
internal import Metrics
internal import PostgresStore
internal import ServiceLifecycle

/// Once a minute, forgets what PostgreSQL keeps of channels that ended long ago, and looks for channels that Redis has
/// forgotten. Each instance does the first; rows that another has locked are left to it.
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
                    logger.debug("channels could not be looked through", metadata: ["error": "\(error)"])
                }
                // Ends early at the shutdown, and with it the loop.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
