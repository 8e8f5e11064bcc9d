internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Limits the calls to telephones per user and per app, through the functions of `calls.lua`.
///
/// Redis stores the set of calls, each with an expiry, rather than a number: so a call that is never released counts no
/// longer than a call can last.
struct PhoneLines: Sendable {
    private let redis: RedisClient

    init(redis: RedisClient) { self.redis = redis }

    /// Reserves a line of the user and one of the app for a new call, unless it has them already.
    /// - Parameter time: how long they are reserved unless ``keep(_:of:until:)`` extends that.
    /// - Throws: `SignalingError` with ``SignalingCode/inviteOther`` when one of the terms' bounds is reached.
    func take(
        _ call: CallID, of user: UserKey, on terms: TrunkTerms, for time: Duration
    ) async throws(SignalingError) {
        let taken = try await take(call, KeySpace.tag(user), time, terms.linesPerUser, terms.newLinesPerUser)
        try Self.check(taken, .userCalls, .userRate)
        let ofApp = try await take(call, KeySpace.tag(user.app), time, terms.linesPerApp, terms.newLinesPerApp)
        if ofApp != 0 { try await free(call, KeySpace.tag(user)) }
        try Self.check(ofApp, .appCalls, .appRate)
    }

    /// Extends the reservation of an answered call's lines.
    func keep(_ call: CallID, of user: UserKey, until time: RedisTime) async throws(SignalingError) {
        for tag in [KeySpace.tag(user), KeySpace.tag(user.app)] {
            _ = try await execute("line_keep", tag, [.string(call.rawValue), .time(time)])
        }
    }

    /// Releases the lines.
    func free(_ call: CallID, of user: UserKey) async throws(SignalingError) {
        for tag in [KeySpace.tag(user), KeySpace.tag(user.app)] { try await free(call, tag) }
    }

    private func free(_ call: CallID, _ tag: String) async throws(SignalingError) {
        _ = try await execute("line_free", tag, [.string(call.rawValue)])
    }

    private func take(
        _ call: CallID, _ tag: String, _ time: Duration, _ bound: Int, _ newBound: Int
    ) async throws(SignalingError) -> Int64 {
        let arguments: [RedisArgument] = [.string(call.rawValue), .milliseconds(time), .int(bound), .int(newBound)]
        guard let taken = try await execute("line_take", tag, arguments).int else { throw .unreadableAnswer }
        return taken
    }

    private func execute(
        _ function: String, _ tag: String, _ arguments: [RedisArgument]
    ) async throws(SignalingError) -> RedisValue {
        try await redis.answer(to: .function(function, tag: tag, arguments: arguments))
    }

    private typealias Bound = InvitationMetrics.PhoneBound

    private static func check(_ taken: Int64, _ atOnce: Bound, _ rate: Bound) throws(SignalingError) {
        guard taken != 0 else { return }
        let bound = taken == 1 ? atOnce : rate
        InvitationMetrics.shared.phoneCallsRefused.increment(bound)
        throw bound.error
    }
}

extension InvitationMetrics.PhoneBound {
    /// What the caller is told when the bound is reached.
    fileprivate var error: SignalingError {
        switch self {
        case .userCalls: SignalingError(.inviteOther, .tooManyCalls, "the user has too many phone calls at once")
        case .userRate:
            SignalingError(.inviteOther, .tooManyNewCalls, "the user has made too many phone calls in this minute")
        case .appCalls: SignalingError(.inviteOther, .appCalls, "the app has too many phone calls at once")
        case .appRate:
            SignalingError(.inviteOther, .appNewCalls, "the app has made too many phone calls in this minute")
        }
    }
}
