import SignalingClient

/// The number of messages received from each account. Not Sendable.
final class Memory {
    var heard: [String: Int] = [:]
}

/// Answers messages; the client's closure is isolated to this actor.
actor Bot {
    private let memory = Memory()

    func run(_ configuration: ClientConfiguration) async throws {
        try await SignalingClient.withClient(configuration) { client in
            for await event in client.events {
                switch event {
                case .message(let message):
                    memory.heard[message.account, default: 0] += 1
                    let count = memory.heard[message.account, default: 0]
                    try await client.sendMessage("message \(count) from you", to: message.account)
                case .call(let call) where call.kind == .invited:
                    try await client.refuse(call.peer, in: call.channel)
                default: break
                }
            }
        }
    }
}

/// Uses a client outside of any actor, with an object of the caller that is not Sendable.
func greet(_ accounts: [String], as configuration: ClientConfiguration, noting memory: Memory) async throws -> Int {
    try await SignalingClient.withClient(configuration) { client in
        for account in accounts where try await client.isOnline(account) {
            try await client.sendMessage("good morning", to: account)
            memory.heard[account] = 0
        }
        return memory.heard.count
    }
}

/// Uses a client without a closure: it exists as long as it is referenced.
func tell(_ text: String, to account: String, as configuration: ClientConfiguration) async throws {
    let client = try await SignalingClient.connect(configuration)
    defer { client.close() }
    do throws(SignalingError) {
        try await client.sendMessage(text, to: account, timeToLive: .seconds(3600))
    } catch  where error.code == .messageTimeout {
        print("nobody knows whether it arrived")
    } catch {
        print("refused: \(error.reason)")
    }
}
