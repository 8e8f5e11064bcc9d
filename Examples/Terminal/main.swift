// A terminal chat as top-level code: `swift run Terminal DISCOVERY_URL APP ACCOUNT CHANNEL`.
import SignalingClient

let arguments = CommandLine.arguments
// For an example, ending the program with its usage is enough.
guard arguments.count == 5 else { fatalError("usage: Terminal DISCOVERY_URL APP ACCOUNT CHANNEL") }
let channel = arguments[4]
var messages = 0

let configuration = ClientConfiguration(
    app: arguments[2], account: arguments[3], source: .discovery([arguments[1]]))
try await SignalingClient.withClient(configuration) { client in
    let joined = try await client.join(channel)
    print("\(joined.members.count) here")
    try await client.send("hello", to: channel)
    for await event in client.events {
        switch event {
        case .channelMessage(_, let account, _, let text):
            messages += 1
            print("\(messages) \(account): \(text)")
        case .memberJoined(_, let account, _): print("\(account) came")
        case .memberLeft(_, let account, _): print("\(account) went")
        case .loggedOut(let error): print("logged out: \(error)")
        default: break
        }
    }
}
