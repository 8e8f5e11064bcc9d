internal import ClusterBus
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Answers the requests of each connection on the thread of its event loop. Swift's own threads would hand a request
/// back and forth with that thread each time it waits for the connection.
struct OnEventLoop<Connection: ServerChildChannel>: ServerChildChannel {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection.Value> {
        connection.setup(channel: channel, logger: logger)
    }

    func handle(value: Connection.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopTasks(value.channel.eventLoop)) {
            await connection.handle(value: value, logger: logger)
        }
    }
}
