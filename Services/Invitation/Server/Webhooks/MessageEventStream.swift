internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import SignalingProtocol

/// Messages of which webhooks tell. Gateways put them into a stream; an invitation process queues them as events,
/// because it runs in every cluster, also where mirrors are turned off.
enum MessageEventStream {
    /// Queues messages for webhooks. One that cannot be read is skipped, so that it does not hold up the others.
    /// - Throws: `PostgresError` when PostgreSQL does not answer; the messages are then delivered again.
    static func copy(
        _ entries: [FieldReader], to webhooks: WebhookOutbox, _ logger: Logger
    ) async throws(PostgresError) {
        var events: [WebhookEvent] = []
        events.reserveCapacity(entries.count)
        for entry in entries {
            do throws(SignalingError) {
                events.append(try MessageMirrorRow(from: entry).webhookEvent)
            } catch {
                logger.error("could not read a message for webhooks", metadata: ["error": "\(error.reason)"])
            }
        }
        try await webhooks.add(events)
    }
}
