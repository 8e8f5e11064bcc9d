internal import Logging
internal import Metrics
internal import PostgresStore
internal import ServiceLifecycle

/// Forgets what PostgreSQL keeps of channels that ended long ago. Each instance does; rows that another has locked are left
/// to it.
struct ChannelRetention: Service {
    private static let pause = Duration.seconds(60)

    let store: AttributeStore
    let retention: Duration
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do throws(PostgresError) {
                    let count = try await store.forgetChannels(unchangedFor: retention)
                    ChannelMetrics.forgotten.increment(by: Int64(count))
                } catch {
                    logger.debug("ended channels could not be forgotten", metadata: ["error": "\(error)"])
                }
                // Ends early at the shutdown, and with it the loop.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
