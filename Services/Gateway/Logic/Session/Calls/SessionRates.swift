package import BusProtocol
package import Pacing
package import SignalingProtocol
package import SignalingWire

/// The rate limits of one session.
///
/// They belong to the session, not the connection: when it is resumed on the same gateway, it keeps its rates. Where
/// they are unknown, it starts with the tokens of one second, so that reconnecting gains nothing.
package struct SessionRates: Equatable, Sendable {
    /// The app's limits that apply to the session; the defaults while its own are unknown.
    package private(set) var limits: AppLimits
    /// Whether ``limits`` are the app's own.
    package private(set) var areLimitsKnown = false
    private var channelMessages: RateLimit
    private var instantMessages: RateLimit
    private var acts: TokenBucket
    private var attributeChanges: TokenBucket
    private var polls: TokenBucket

    /// Creates the rates of a session.
    /// - Parameters:
    ///   - limits: the app's limits.
    ///   - isResumed: whether the session was on another connection before.
    package init(_ limits: AppLimits = AppLimits(), isResumed: Bool = false) {
        self.limits = limits
        channelMessages = RateLimit(perSecond: limits.messagesPerSecond)
        instantMessages = RateLimit(perSecond: limits.messagesPerSecond)
        acts = TokenBucket(
            perSecond: limits.actsPerSecond, burst: Limits.actsBurst, tokens: isResumed ? limits.actsPerSecond : nil)
        attributeChanges = TokenBucket(
            perSecond: limits.attributeChangesPerSecond, burst: Limits.attributeChangesBurst,
            tokens: isResumed ? limits.attributeChangesPerSecond : nil)
        let pollsPerSecond = Self.pollsPerSecond(limits)
        polls = TokenBucket(
            perSecond: pollsPerSecond, burst: Limits.pollsBurst, tokens: isResumed ? pollsPerSecond : nil)
    }

    /// Polls per second, raised in the same proportion as the app's limit of other acts.
    private static func pollsPerSecond(_ limits: AppLimits) -> Int {
        max(1, limits.actsPerSecond * Limits.pollsPerSecond / Limits.actsPerSecond)
    }

    /// Applies the app's limits, when they become known or have changed.
    package mutating func adopt(_ limits: AppLimits) {
        areLimitsKnown = true
        guard limits != self.limits else { return }
        self.limits = limits
        channelMessages.bound = limits.messagesPerSecond
        instantMessages.bound = limits.messagesPerSecond
        acts.change(perSecond: limits.actsPerSecond, burst: Limits.actsBurst)
        attributeChanges.change(
            perSecond: limits.attributeChangesPerSecond, burst: Limits.attributeChangesBurst)
        polls.change(perSecond: Self.pollsPerSecond(limits), burst: Limits.pollsBurst)
    }

    /// Continues with the rates that an earlier connection of the session has left, under the present limits.
    /// - Parameter left: nil when none were kept.
    package mutating func resume(_ left: SessionRates?) {
        var resumed = left ?? SessionRates(limits, isResumed: true)
        resumed.adopt(limits)
        resumed.areLimitsKnown = areLimitsKnown
        self = resumed
    }

    /// Counts an act when it arrives.
    /// - Returns: the error with which to refuse it; nil when it is allowed.
    package mutating func refusal(of act: ClientCall.Act, now: LocalTime) -> SignalingError? {
        switch act.traits.rate {
        case .channelMessages:
            channelMessages.admit(now: now)
                ? nil : Self.refusal(.messageOther, limits.messagesPerSecond, "messages")
        case .userMessages:
            instantMessages.admit(now: now)
                ? nil : Self.refusal(.messageOther, limits.messagesPerSecond, "messages")
        case .attributeChanges:
            attributeChanges.take(now: now)
                ? nil : Self.refusal(.failed, limits.attributeChangesPerSecond, "attribute changes")
        case .acts: acts.take(now: now) ? nil : Self.refusal(.failed, limits.actsPerSecond, "acts")
        case .unlimited: nil
        }
    }

    /// Counts a poll when its turn comes. Polls are never refused: old clients poll as fast as they get answers, and
    /// cannot handle a refusal.
    /// - Returns: how long the answer must be delayed.
    package mutating func pollDelay(now: LocalTime) -> Duration { polls.reserve(now: now) }

    /// Counts the size of an answer: each ``SignalingProtocol/Limits/answerBytesPerAct`` bytes as one more act or poll.
    /// The size is known only afterwards, so the balance may become negative.
    /// - Parameter isPoll: whether it is the answer to a poll.
    package mutating func answered(bytes: Int, isPoll: Bool) {
        let count = bytes / Limits.answerBytesPerAct
        guard count > 0 else { return }
        if isPoll { polls.charge(count) } else { acts.charge(count) }
    }

    private static func refusal(_ code: SignalingCode, _ bound: Int, _ what: String) -> SignalingError {
        SignalingError(code, .rateLimited, "more than \(bound) \(what) a second")
    }
}
