import ArgumentParser
package import PostgresStore
internal import Provisioning
package import SignalingProtocol

/// A certificate given on the command line: 1 to 128 visible ASCII characters.
struct Certificate: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard AppPatch.isCertificate(argument) else { return nil }
        text = argument
    }

    private init(text: String) { self.text = text }

    static func random() -> Certificate { Certificate(text: SecureRandom.hex(bytes: 16)) }
}

extension AppID: ExpressibleByArgument {
    /// Parses an app id; nil when it is not valid.
    package init?(argument: String) { try? self.init(argument) }
}

extension Account: ExpressibleByArgument {
    /// Parses an account; nil when it is not valid.
    package init?(argument: String) { try? self.init(argument) }
}

extension ChannelName: ExpressibleByArgument {
    /// Parses a channel's name; nil when it is not valid.
    package init?(argument: String) { try? self.init(argument) }
}

/// An address written as `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
struct SIPAddressArgument: ExpressibleByArgument {
    let host: String
    let port: Int?

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        let host: Substring
        let port: Substring?
        if argument.hasPrefix("["), let end = argument.firstIndex(of: "]") {
            host = argument[argument.index(after: argument.startIndex)..<end]
            let rest = argument[argument.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            guard parts.count <= 2 else { return nil }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        guard TrunkPatch.isHost(String(host)) else { return nil }
        self.host = String(host)
        guard let port else {
            self.port = nil
            return
        }
        guard let number = Int(port), (1...65535).contains(number) else { return nil }
        self.port = number
    }
}

/// A telephone number as written in a SIP request: 1 to 64 letters, digits, or `+ * # - . _`.
struct SIPNumberArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard TrunkPatch.isNumber(argument) else { return nil }
        text = argument
    }
}

extension SIPTransport: ExpressibleByArgument {}
extension SIPTrunk.DTMF: ExpressibleByArgument {}
extension SIPTrunk.SRTP: ExpressibleByArgument {}
