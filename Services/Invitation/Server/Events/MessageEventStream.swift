internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import SignalingProtocol

/// Messages of which webhooks and streams of events tell. Gateways put them into a stream of Redis; an invitation
/// process makes them events, because it runs in every cluster, also where mirrors are turned off.
enum MessageEventStream {
    /// Queues messages for webhooks, and tells them to those who follow. One that cannot be read is skipped, so that it
    /// does not hold up the others.
    /// - Throws: `PostgresError` when PostgreSQL does not answer; the messages are then delivered again.
    static func copy(
        _ entries: [FieldReader], to webhooks: WebhookOutbox, _ followed: FollowedEvents, _ logger: Logger
    ) async throws(PostgresError) {
        var rows: [MessageMirrorRow] = []
        rows.reserveCapacity(entries.count)
        for entry in entries {
            do throws(SignalingError) {
                rows.append(try MessageMirrorRow(from: entry))
            } catch {
                logger.error("could not read a message to be told", metadata: ["error": "\(error.reason)"])
            }
        }
        try await webhooks.add(rows.map(\.webhookEvent))
        // Afterwards: what is delivered again is then told only once.
        await followed.tell(ofMessages: rows.compactMap(\.streamedEvent))
    }
}
