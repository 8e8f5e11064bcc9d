internal import SignalingProtocol

/// Checks names in paths and bodies.
enum APINames {
    static func app(_ text: String) throws(APIProblem) -> AppID {
        guard let app = try? AppID(text) else {
            throw APIProblem.invalid("app", "1...\(Limits.appIDBytes) visible ASCII characters")
        }
        return app
    }

    /// An account that need not exist yet.
    static func newAccount(_ text: String, at place: String = "account") throws(APIProblem) -> Account {
        let account = try account(text, at: place)
        guard (try? Account(new: text)) != nil else { throw APIProblem.invalid(place, noDots) }
        return account
    }

    static func account(_ text: String, at place: String = "account") throws(APIProblem) -> Account {
        guard let account = try? Account(text) else {
            throw APIProblem.invalid(
                place, "1...\(Limits.accountBytes) bytes without white space and control characters")
        }
        return account
    }

    static func channel(_ text: String, at place: String = "channel") throws(APIProblem) -> ChannelName {
        guard let channel = try? ChannelName(text) else {
            throw APIProblem.invalid(place, "1...\(Limits.channelNameBytes) bytes without control characters")
        }
        return channel
    }

    /// A channel, which need not exist yet, in which a server may speak: what is said in a special channel is the
    /// system's.
    static func newChannel(_ text: String, at place: String = "channel") throws(APIProblem) -> ChannelName {
        let name = try ordinaryChannel(text, at: place)
        guard (try? ChannelName(new: text)) != nil else { throw APIProblem.invalid(place, noDots) }
        return name
    }

    /// A channel other than the special ones.
    static func ordinaryChannel(_ text: String, at place: String = "channel") throws(APIProblem) -> ChannelName {
        let name = try channel(text, at: place)
        guard name.special == nil else {
            throw APIProblem.invalid(place, "another channel than the special ones, in which only the system speaks")
        }
        return name
    }

    static func call(_ text: String) throws(APIProblem) -> String {
        guard APIAct.callBytes.contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APIProblem.invalid("call", "1...\(APIAct.callBytes.upperBound) visible ASCII characters")
        }
        return text
    }

    /// An attribute to set.
    static func newAttribute(_ text: String) throws(APIProblem) -> AttributeName {
        let name = try attribute(text)
        guard (try? AttributeName(new: text)) != nil else { throw APIProblem.invalid("name", noDots) }
        return name
    }

    private static let noDots = "another name than . and .., which HTTP clients leave out of paths"

    static func attribute(_ text: String) throws(APIProblem) -> AttributeName {
        guard let name = try? AttributeName(text) else {
            throw APIProblem.invalid("name", "1...\(Limits.attributeNameBytes) bytes without control characters")
        }
        return name
    }
}
