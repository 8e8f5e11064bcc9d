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

extension AppID: ExpressibleByArgument {
    /// Takes an app id; nil when the text is none.
    public init?(argument: String) { try? self.init(argument) }
}

extension Account: ExpressibleByArgument {
    /// Takes an account; nil when the text is none.
    public init?(argument: String) { try? self.init(argument) }
}
