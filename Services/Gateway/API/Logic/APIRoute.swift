package import SignalingProtocol

/// The operations of the server API. The raw value is the operation's id in `Docs/openapi.json`; a test compares the two.
package enum APIRoute: String, CaseIterable, Sendable {
    case getError
    case getKey
    case getMetrics
    case listProcesses
    case listApps
    case getUsage
    case listCalls
    case followEvents
    case startCall
    case endCall
    case sendDigits
    case listUsers
    case sendMessage
    case sendChannelMessage
    case sendMessages
    case broadcast
    case getUser
    case disconnectUser
    case mintToken
    case revokeTokens
    case listBans
    case getBan
    case setBan
    case deleteBan
    case listUserAttributes
    case getUserAttribute
    case setUserAttribute
    case deleteUserAttribute
    case listChannels
    case listChannelMessages
    case listChannelEvents
    case getChannel
    case listMembers
    case getMember
    case listChannelAttributes
    case getChannelAttribute
    case setChannelAttribute
    case deleteChannelAttribute

    /// The HTTP method.
    package var method: String {
        switch self {
        case .getMetrics: "GET"
        case .getError, .getKey, .listProcesses, .listApps, .getUsage, .listCalls, .followEvents, .listUsers,
            .listChannels, .getUser, .listBans, .getBan, .listUserAttributes, .getUserAttribute, .getChannel,
            .listMembers, .getMember, .listChannelAttributes, .getChannelAttribute:
            "GET"
        case .listChannelMessages, .listChannelEvents: "GET"
        case .sendMessage, .sendChannelMessage, .sendMessages, .broadcast, .disconnectUser, .mintToken: "POST"
        case .setBan, .setUserAttribute, .setChannelAttribute: "PUT"
        case .deleteBan, .deleteUserAttribute, .deleteChannelAttribute: "DELETE"
        case .startCall, .sendDigits, .revokeTokens: "POST"
        case .endCall: "DELETE"
        }
    }

    /// The path with its parameters in braces.
    package var template: String {
        switch self {
        case .getError: "/v1/errors/{code}"
        case .getKey: "/v1/key"
        case .getMetrics: "/v1/metrics"
        case .listProcesses: "/v1/processes"
        case .listApps: "/v1/apps"
        case .getUsage: "/v1/apps/{app}/usage"
        case .listCalls, .startCall: "/v1/apps/{app}/calls"
        case .followEvents: "/v1/apps/{app}/events"
        case .endCall: "/v1/apps/{app}/calls/{call}"
        case .sendDigits: "/v1/apps/{app}/calls/{call}/digits"
        case .listUsers: "/v1/apps/{app}/users"
        case .listChannels: "/v1/apps/{app}/channels"
        case .sendMessages: "/v1/apps/{app}/messages"
        case .broadcast: "/v1/apps/{app}/broadcasts"
        case .sendMessage: "/v1/apps/{app}/users/{account}/messages"
        case .getUser: "/v1/apps/{app}/users/{account}"
        case .disconnectUser: "/v1/apps/{app}/users/{account}/disconnect"
        case .mintToken: "/v1/apps/{app}/users/{account}/tokens"
        case .revokeTokens: "/v1/apps/{app}/users/{account}/tokens/revoke"
        case .listBans: "/v1/apps/{app}/bans"
        case .getBan, .setBan, .deleteBan: "/v1/apps/{app}/users/{account}/ban"
        case .listUserAttributes: "/v1/apps/{app}/users/{account}/attributes"
        case .getUserAttribute, .setUserAttribute, .deleteUserAttribute:
            "/v1/apps/{app}/users/{account}/attributes/{name}"
        case .sendChannelMessage, .listChannelMessages: "/v1/apps/{app}/channels/{channel}/messages"
        case .listChannelEvents: "/v1/apps/{app}/channels/{channel}/events"
        case .getChannel: "/v1/apps/{app}/channels/{channel}"
        case .listMembers: "/v1/apps/{app}/channels/{channel}/members"
        case .getMember: "/v1/apps/{app}/channels/{channel}/members/{account}"
        case .listChannelAttributes: "/v1/apps/{app}/channels/{channel}/attributes"
        case .getChannelAttribute, .setChannelAttribute, .deleteChannelAttribute:
            "/v1/apps/{app}/channels/{channel}/attributes/{name}"
        }
    }

    /// What the key must be allowed; nil where any key will do.
    package var scope: APIScope? {
        switch self {
        case .getError, .getKey: nil
        case .getMetrics: .read
        case .listProcesses, .listApps, .getUsage, .listCalls, .followEvents, .listUsers, .listChannels, .getUser,
            .listBans, .getBan, .listUserAttributes, .getUserAttribute, .getChannel, .listMembers, .getMember,
            .listChannelAttributes, .getChannelAttribute:
            .read
        case .listChannelMessages, .listChannelEvents: .read
        case .startCall, .endCall, .sendDigits, .revokeTokens: .admin
        case .sendMessage, .sendChannelMessage, .sendMessages, .broadcast: .send
        case .disconnectUser, .mintToken, .setBan, .deleteBan, .setUserAttribute, .deleteUserAttribute,
            .setChannelAttribute, .deleteChannelAttribute:
            .admin
        }
    }

    /// Whether the key must be one of the cluster, because the operation is about all apps.
    package var needsClusterKey: Bool { [.listProcesses, .listApps, .getMetrics].contains(self) }

    /// Whether the operation needs no key.
    package var isPublic: Bool { self == .getError }

    /// Whether the request must have a body.
    package var hasBody: Bool {
        switch self {
        case .getMetrics, .listChannelMessages, .listChannelEvents, .endCall: false
        case .startCall, .sendDigits, .revokeTokens: true
        case .sendMessage, .sendChannelMessage, .sendMessages, .broadcast, .mintToken, .setBan, .setUserAttribute,
            .setChannelAttribute:
            true
        case .getError, .getKey, .listProcesses, .listApps, .getUsage, .listCalls, .followEvents, .listUsers,
            .listChannels, .getUser, .disconnectUser, .listBans, .getBan, .deleteBan, .listUserAttributes,
            .getUserAttribute, .deleteUserAttribute, .getChannel, .listMembers, .getMember, .listChannelAttributes,
            .getChannelAttribute, .deleteChannelAttribute:
            false
        }
    }

    /// Bytes of the body at most: many messages, or else two values at their bounds, all of whose characters are escaped.
    package var bodyBound: Int { [.sendMessages, .broadcast].contains(self) ? Self.largestBody : Self.usualBody }

    /// Bytes of the largest bodies, those of many messages, and of all others.
    package static let largestBody = 1 << 20
    package static let usualBody = 128 << 10

    /// Whether the operation changes something, so that it may have an idempotency key.
    package var isWrite: Bool { method != "GET" && self != .mintToken }
}
