import SignalingClient

// A user of the Swift client who answers, for the test in which clients of three kinds talk to each other:
//
//     client-echo APP ACCOUNT DISCOVERY_URL CHANNEL
//
// Joins the channel. Answers the message `tell ACCOUNT TEXT` by sending TEXT to ACCOUNT, and any other by "swift heard:
// " and its text. Says "swift is here" when somebody says "go" in the channel. Accepts invitations.

let arguments = CommandLine.arguments
let configuration = ClientConfiguration(app: arguments[1], account: arguments[2], source: .discovery([arguments[3]]))

try await SignalingClient.withClient(configuration) { client in
    _ = try await client.join(arguments[4])
    for await event in client.events {
        switch event {
        case .message(let message):
            let words = message.text.split(separator: " ", maxSplits: 2).map(String.init)
            if words.count == 3, words[0] == "tell" {
                try await client.sendMessage(words[2], to: words[1])
            } else if !message.text.contains("heard: ") {
                try await client.sendMessage("swift heard: \(message.text)", to: message.account)
            }
        case .channelMessage(let channel, _, _, let text) where text == "go":
            try await client.send("swift is here", to: channel)
        case .call(let call) where call.kind == .invited:
            try await client.accept(call.peer, in: call.channel)
        case .loggedOut:
            return
        default:
            break
        }
    }
}
