internal import Logging
internal import PostgresStore
internal import ServiceKit
internal import ServiceLifecycle
internal import ServiceMetrics

/// Once a minute, deletes the rows of channels that ended long ago from PostgreSQL, and surveys channels that Redis has
/// lost. Every instance deletes; rows that another has locked are skipped.
struct ChannelRetention: Service {
    private static let pause = Duration.seconds(60)

    let store: AttributeStore
    let retention: Duration
    let survey: ChannelSurvey
    let logger: Logger

    func run() async throws {
        await PeriodicTask(
            every: Self.pause, complaint: "could not check the channels in PostgreSQL", level: .debug,
            logger: logger
        ).run {
            try await forget()
            try await survey.run()
        }
    }

    private func forget() async throws {
        var count: Int
        repeat {
            count = try await store.forgetChannels(unchangedFor: retention)
            ChannelMetrics.shared.forgotten.increment(by: count)
        } while count == AttributeStore.forgetBatch && !Task.isCancelled
    }
}
