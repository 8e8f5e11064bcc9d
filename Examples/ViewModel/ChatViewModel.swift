import SignalingClient

/// Formats times. Not Sendable, like most formatters.
final class Clock {
    func text(_ unixSeconds: Int64) -> String { "\(unixSeconds)" }
}

/// The content of a screen, on the main actor. The client's closure runs there too and may use the actor's state.
@MainActor
final class ChatViewModel {
    private(set) var lines: [String] = []
    private(set) var isConnected = false
    private let clock = Clock()

    /// Shows messages until the task is cancelled or the session ends.
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

    /// Returns from the closure a value that is not Sendable, together with the number of a channel's members.
    func formatter(for channel: String, _ configuration: ClientConfiguration) async throws -> (Clock, Int) {
        try await SignalingClient.withClient(configuration) { client in
            (Clock(), try await client.memberCount(of: channel))
        }
    }
}
