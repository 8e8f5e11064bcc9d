public import ArgumentParser
public import SignalingProtocol

/// A certificate given on the command line: 1 to 128 visible ASCII characters.
struct Certificate: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard (1...128).contains(argument.utf8.count), argument.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        text = argument
    }

    private init(text: String) { self.text = text }

    static func random() -> Certificate { Certificate(text: SecureRandom.hex(bytes: 16)) }
}

/// The limits of an app.
struct LimitOptions: ParsableArguments {
    @Option(help: "Channel messages, and as many instant messages, of one session a second; 1000000: no limit.")
    var messagesPerSecond: Int = Limits.messagesPerSecond

    @Option(help: "Messages of one channel a second; 1000000: no limit.")
    var channelMessagesPerSecond: Int = Limits.channelMessagesPerSecond

    func validate() throws {
        for limit in [messagesPerSecond, channelMessagesPerSecond] where !AppLimits.range.contains(limit) {
            throw ValidationError(
                "a limit is \(AppLimits.range.lowerBound)...\(AppLimits.range.upperBound) messages a second")
        }
    }

    var limits: AppLimits {
        AppLimits(messagesPerSecond: messagesPerSecond, channelMessagesPerSecond: channelMessagesPerSecond)
    }
}

extension AppID: ExpressibleByArgument {
    /// Takes an app id; nil when the text is none.
    public init?(argument: String) { try? self.init(argument) }
}

extension Account: ExpressibleByArgument {
    /// Takes an account; nil when the text is none.
    public init?(argument: String) { try? self.init(argument) }
}
