internal import ArgumentParser
internal import PostgresStore
internal import SignalingWire

extension WebhookCommand {
    /// `heliographctl webhook deliveries`.
    struct Deliveries: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the latest requests to a webhook's receiver, the latest first: 1000 of them, for 3 days.")

        @OptionGroup var place: WebhookPlace

        @Flag(help: "Only those that have failed.")
        var failed = false

        @Option(help: "How many at most: 1...1000.")
        var limit = 100

        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...WebhookQueue.requestsKept).contains(limit) else {
                throw ValidationError("--limit must be 1...\(WebhookQueue.requestsKept)")
            }
        }

        func run() async throws {
            try await Failure.reported {
                let key = place.key
                try await Database.with { pool in
                    _ = try await WebhookRecord.existing(key, in: pool)
                    let deliveries = try await WebhookStore(pool: pool).deliveries(key, failed: failed, limit: limit)
                    output.show(
                        Listing(name: "deliveries", records: deliveries.map { DeliveryOutput(delivery: $0) }))
                }
            }
        }
    }
}

/// A request to a receiver as commands print it.
struct DeliveryOutput: PrintableRecord {
    let delivery: WebhookDelivery

    var members: [JSONMember] {
        [
            // In Unix milliseconds, and in milliseconds.
            JSONMember("at", delivery.at), JSONMember("duration", delivery.duration),
            JSONMember("attempt", delivery.attempt), JSONMember("error", delivery.error),
            JSONMember("events", delivery.events), JSONMember("status", delivery.status),
        ]
    }

    var line: String {
        let fields = [
            Output.time(milliseconds: delivery.at), "\(delivery.events) events",
            delivery.attempt > 1 ? "attempt \(delivery.attempt)" : nil, delivery.status.map { "status \($0)" },
            "after \(delivery.duration) ms", delivery.error,
        ]
        return fields.compactMap(\.self).joined(separator: "  ")
    }
}
