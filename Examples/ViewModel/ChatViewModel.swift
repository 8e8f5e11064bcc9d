import SignalingClient

/// Formats times as the user likes them. Not Sendable, as most formatters.
final class Clock {
    func text(_ unixSeconds: Int64) -> String { "\(unixSeconds)" }
}

/// What a screen shows, on the main actor. The client's closure runs there too, and uses what belongs there.
@MainActor
final class ChatViewModel {
    private(set) var lines: [String] = []
    private(set) var isConnected = false
    private let clock = Clock()

    /// Shows what comes until the task is cancelled or the session ends.
    func run(_ configuration: ClientConfiguration) async {
        let clock = clock
        var count = 0
        do {
            try await SignalingClient.withClient(configuration) { client in
                isConnected = true
                for await event in client.events {
                    if case .message(let message) = event {
                        count += 1
                        lines.append("\(count) \(clock.text(message.time)) \(message.account): \(message.text)")
                    }
                }
            }
        } catch {
            lines.append("\(error)")
        }
        isConnected = false
    }

    /// The latest members of a channel, as a value that is made where the client is used and not Sendable.
    func formatter(for channel: String, _ configuration: ClientConfiguration) async throws -> (Clock, Int) {
        try await SignalingClient.withClient(configuration) { client in
            (Clock(), try await client.memberCount(of: channel))
        }
    }
}
