internal import ClusterState
package import SignalingProtocol

/// What a client asks discovery for: any gateways, or those where the members of a channel,
/// or the users of an app, gather.
package struct DiscoveryQuery: Equatable, Sendable {
    /// Names the channel or the app; nil for any gateways.
    package let subject: String?

    /// Reads the target of a request, such as `/getaddr?vid=APP&channel=NAME`. Source:
    /// `Docs/protocol.md`, "Finding a gateway".
    ///
    /// Without `channel` and `app` nothing is looked at: the old clients send what they like.
    /// - Throws: `SignalingError` (1004) with a text that names the parameter which cannot be used.
    package init(target: String) throws(SignalingError) {
        let parameters = Self.parameters(of: target)
        let channel = try Self.value("channel", parameters)
        let app = try Self.value("app", parameters)
        switch (channel, app) {
        case (nil, nil): subject = nil
        case (.some, .some): throw Self.invalid("channel and app exclude each other")
        case (let channel?, nil):
            guard let vid = try Self.value("vid", parameters) else {
                throw Self.invalid("channel needs vid, the app's id")
            }
            subject = KeySpace.tag(ChannelKey(app: try AppID(vid), name: try ChannelName(channel)))
        case (nil, let app?):
            if let vid = try Self.value("vid", parameters), vid != app { throw Self.invalid("vid and app differ") }
            subject = KeySpace.tag(try AppID(app))
        }
    }

    /// The names and values of a target's query, as they stand there.
    private static func parameters(of target: String) -> [(name: Substring, value: Substring)] {
        let query = target.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        return query.split(separator: "&").map { pair in
            let end = pair.firstIndex(of: "=") ?? pair.endIndex
            return (pair[..<end], pair[end...].dropFirst())
        }
    }

    /// The value of a parameter, unescaped; nil when it is absent.
    private static func value(
        _ name: String, _ parameters: [(name: Substring, value: Substring)]
    ) throws(SignalingError) -> String? {
        let found = parameters.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1 else { throw invalid("\(name) is given more than once") }
        // Forms write a space as +.
        let text = first.value.map { $0 == "+" ? "%20" : String($0) }.joined()
        guard let value = PercentEscape.unescape(text, allowsLowerCase: true) else {
            throw invalid("\(name) is not percent-encoded UTF-8")
        }
        return value
    }

    private static func invalid(_ text: String) -> SignalingError {
        SignalingError(.wrongParameter, .invalidDiscovery, text)
    }
}
