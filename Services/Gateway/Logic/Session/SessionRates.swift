package import SignalingProtocol
package import SignalingWire

/// How often one session may act.
///
/// The rates are the session's, not the connection's: they go along when it is resumed at its gateway, and where they are
/// not known it begins with what comes back in a second, so that reconnecting gives nothing.
package struct SessionRates: Sendable {
    /// The app's limits that the session is under.
    package private(set) var limits: AppLimits
    private var channelMessages: RateLimit
    private var instantMessages: RateLimit
    private var acts: TokenBucket
    private var attributeChanges: TokenBucket
    private var polls: TokenBucket

    /// The rates of a session.
    /// - Parameters:
    ///   - limits: the app's.
    ///   - isResumed: whether it acted on another connection before.
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

    /// Polls a second: raised in the same proportion as the app's limit of other acts.
    private static func pollsPerSecond(_ limits: AppLimits) -> Int {
        max(1, limits.actsPerSecond * Limits.pollsPerSecond / Limits.actsPerSecond)
    }

    /// Takes the app's limits, once they are known or when they have changed.
    package mutating func adopt(_ limits: AppLimits) {
        guard limits != self.limits else { return }
        self.limits = limits
        channelMessages.bound = limits.messagesPerSecond
        instantMessages.bound = limits.messagesPerSecond
        acts.change(perSecond: limits.actsPerSecond, burst: Limits.actsBurst)
        attributeChanges.change(
            perSecond: limits.attributeChangesPerSecond, burst: Limits.attributeChangesBurst)
        polls.change(perSecond: Self.pollsPerSecond(limits), burst: Limits.pollsBurst)
    }

    /// Counts an act when it arrives.
    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: why it is refused; nil where it may be done.
    package mutating func refusal(of act: ClientCall.Act, now: Int64) -> SignalingError? {
        switch act {
        case .sendChannelMessage:
            channelMessages.admit(now: now)
                ? nil : Self.refusal(.messageOther, limits.messagesPerSecond, "messages")
        case .sendMessage:
            instantMessages.admit(now: now)
                ? nil : Self.refusal(.messageOther, limits.messagesPerSecond, "messages")
        case .setAttribute, .changeAttributes:
            attributeChanges.take(now: now)
                ? nil : Self.refusal(.failed, limits.attributeChangesPerSecond, "attribute changes")
        case .queryStatus, .getAttribute, .listAttributes, .join, .leave, .countMembers, .queryMember, .listMembers,
            .call:
            acts.take(now: now) ? nil : Self.refusal(.failed, limits.actsPerSecond, "acts")
        // A poll is delayed instead, see `pollDelay(now:)`; a logout frees resources.
        case .pollMailbox, .logOut: nil
        }
    }

    /// Counts a poll when it is its turn. Old clients poll as fast as they are answered, and do not handle a refusal.
    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: milliseconds that its answer must wait.
    package mutating func pollDelay(now: Int64) -> Int64 { polls.reserve(now: now) }

    /// Counts the bytes of an answer: each ``SignalingProtocol/Limits/answerBytesPerAct`` as one more act, or poll. How
    /// many there are is known only now, so that it may be more than was left: until that has come back, there is nothing left.
    /// - Parameter isPoll: whether a poll has asked for it.
    package mutating func answered(bytes: Int, isPoll: Bool) {
        let count = bytes / Limits.answerBytesPerAct
        guard count > 0 else { return }
        if isPoll { polls.charge(count) } else { acts.charge(count) }
    }

    private static func refusal(_ code: SignalingCode, _ bound: Int, _ what: String) -> SignalingError {
        SignalingError(code, .rateLimited, "more than \(bound) \(what) a second")
    }
}
