package import SignalingProtocol

/// A request of the server API whose arguments are all within their bounds.
package enum APIAct: Equatable, Sendable {
    case describeError(APIErrorCode)
    case describeKey
    /// The metrics of the gateway that answers.
    case getMetrics
    case listProcesses
    case list(ListRecords)
    case getUsage(ListRecords)
    /// Events after a position; nil for those from now on.
    case follow(AppID, kinds: Set<EventKind>, after: EventPosition?)
    /// An invitation.
    case startCall(CallAct)
    /// An act of the user in a call.
    case actInCall(FindCall, CallVerb, extra: String)
    /// The log of a channel.
    case readHistory(ChannelKey, HistoryPage)
    case send(OutgoingMessage)
    /// Messages whose outcomes are reported one by one.
    case sendAll([OutgoingMessage])
    case getUser(UserKey)
    case disconnect(UserKey)
    /// A login token for so many seconds.
    case mintToken(UserKey, seconds: Int)
    case revokeTokens(UserKey, RevokedRange)
    case getBan(UserKey)
    case ban(UserKey, until: BanEnd, reason: String)
    case liftBan(UserKey)
    case listUserAttributes(UserKey)
    case getUserAttribute(UserKey, AttributeName)
    case changeUserAttribute(ChangeUserAttribute)
    case getChannel(ChannelKey)
    case listMembers(ChannelKey, limit: Int)
    case getMember(ChannelKey, Account)
    case listChannelAttributes(ChannelKey)
    case getChannelAttribute(ChannelKey, AttributeName)
    case changeChannelAttribute(ChangeChannelAttribute)

    /// Messages of one call at most.
    package static let messagesBound = 1000
    /// The range of a token's life in seconds: up to a year.
    package static let tokenSeconds = 1...31_536_000
    /// Bytes of a login token.
    package static let tokenBytes = 1...256
    /// The latest time at which a token may end that is revoked, in Unix seconds: the last second of the year 9999.
    package static let lastTokenEnd: Int64 = 253_402_300_799
    /// The latest members that are listed at once, at most.
    package static let membersBound = 10_000
    /// Records of a page.
    package static let pageRecords = 1...1000
    /// Bytes of a page's position, and of what names begin with.
    package static let positionBytes = 0...1024
    package static let prefixBytes = 0...128
    /// The characters of a call's id.
    package static let callBytes = 1...256
    /// The digits that are sent at once: as many as a sip-bridge takes.
    package static let digits = 1...128
    /// The range of an event's id in a channel: Redis compares them as doubles, which are exact up to 2^53.
    package static let eventIDs = 0...9_007_199_254_740_991
    /// Days of usage.
    package static let usageDays = 1...366

    /// How many requests of the key's rate it counts as.
    package var cost: Int {
        if case .sendAll(let messages) = self { messages.count } else { 1 }
    }
}

/// Which login tokens of a user are to be revoked.
package enum RevokedRange: Equatable, Sendable {
    /// This one, and those that end before it.
    case token(String)
    /// Those that were made until now for so many seconds at most.
    case made(seconds: Int)
}

/// When a ban is to end.
package enum BanEnd: Equatable, Sendable {
    /// So many seconds from now.
    case seconds(Int)
    /// In Unix seconds.
    case time(Int)

    /// The end in Unix seconds.
    /// - Parameter now: in Unix seconds.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument`` when that is too early or too late.
    package func time(now: Int64) throws(APIProblem) -> Int64 {
        switch self {
        case .seconds(let seconds): return now + Int64(seconds)
        case .time(let time):
            let (least, most) = (now + Int64(UserBan.seconds.lowerBound), now + Int64(UserBan.seconds.upperBound))
            guard (least...most).contains(Int64(time)) else {
                throw APIProblem.invalid("until", "a whole number of \(least)...\(most), in the future")
            }
            return Int64(time)
        }
    }
}

/// A message that an app's server sends.
package struct OutgoingMessage: Equatable, Sendable {
    package enum Receiver: Equatable, Sendable {
        /// A user, for whom the message waits for so many seconds at most.
        case user(Account, seconds: Int)
        case channel(ChannelName)
    }

    package var app: AppID
    /// The account that the receivers see as the sender. It need not be logged in, nor a member of the channel.
    package var sender: Account
    package var receiver: Receiver
    /// Up to ``Limits/messageBytes`` bytes.
    package var text: String
}
