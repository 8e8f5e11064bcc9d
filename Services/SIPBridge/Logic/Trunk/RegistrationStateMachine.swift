internal import Pacing

/// Durations of a registration.
package struct RegistrationTiming: Equatable, Sendable {
    /// The requested lifetime of the binding, in whole seconds.
    package var expiry = Duration.seconds(3_600)
    /// The longest lifetime that a registrar may demand with 423.
    package var maxExpiry = Duration.seconds(86_400)
    /// The first pause after a failure; it doubles each time.
    package var firstPause = Duration.seconds(2)
    /// The longest pause; also used after a refusal.
    package var longestPause = Duration.seconds(300)

    /// The default durations.
    package init() {}
}

/// What the driver must do.
package enum RegistrationAction: Equatable, Sendable {
    /// Send REGISTER with this Expires; 0 removes the binding.
    case send(expiry: Duration)
    /// Wait this long, then call ``RegistrationStateMachine/timeIsUp()``. This replaces an earlier wait.
    case wait(Duration)
    /// Report that calls can arrive, for this long.
    case tellRegistered(for: Duration)
    /// Report that the binding is lost or could not be made, with the response's status; nil when there was no
    /// response. It is tried again after this long.
    case tellLost(status: Int?, again: Duration)
    /// Report that the registration has ended.
    case tellEnded
}

/// The life of a registration, from the first REGISTER to the last. Source: RFC 3261 section 10.2; RFC 5626 section 4.5
/// for the pauses.
package struct RegistrationStateMachine: ~Copyable {
    private enum State {
        /// Nothing was sent. -> registering, ended
        case idle
        /// A REGISTER is in progress. -> registered, pausing, unregistering
        case registering(Sent)
        /// The binding exists; the timer runs until its refresh. -> registering, unregistering
        case registered
        /// Pausing after a failure. -> registering, ended
        case pausing
        /// The last REGISTER is in progress, or waits for the one before it to end. -> ended
        case unregistering(isSent: Bool)
        /// Ended.
        case ended
    }

    private struct Sent {
        /// Whether the registrar has demanded a longer lifetime before.
        var isLengthened = false
    }

    private let timing: RegistrationTiming
    private var state = State.idle
    private var failures = 0
    private var expiry: Duration

    /// Creates a registration; nothing is sent before ``start()``.
    package init(timing: RegistrationTiming = RegistrationTiming()) {
        self.timing = timing
        expiry = timing.expiry
    }

    /// Sends the first REGISTER.
    package mutating func start() -> [RegistrationAction] {
        switch state {
        case .idle:
            state = .registering(Sent())
            return [.send(expiry: expiry)]
        case .registering, .registered, .pausing, .unregistering, .ended:
            assertionFailure("a registration is started once")
            return []
        }
    }

    /// Called when the wait has passed.
    package mutating func timeIsUp() -> [RegistrationAction] {
        switch state {
        case .registered, .pausing:
            state = .registering(Sent())
            return [.send(expiry: expiry)]
        case .idle, .registering, .unregistering, .ended:
            // The timer fired while it was being stopped.
            return []
        }
    }

    /// Takes a 2xx.
    /// - Parameter lifetime: how long our binding is kept; nil when the registrar does not list it, which is reported
    ///   as lost with the status 200.
    package mutating func accepted(for lifetime: Duration?) -> [RegistrationAction] {
        switch state {
        case .registering:
            guard let lifetime, lifetime > .zero else { return lost(status: 200, pause: timing.longestPause) }
            failures = 0
            state = .registered
            return [.tellRegistered(for: lifetime), .wait(Self.refresh(of: lifetime))]
        case .unregistering(isSent: false):
            state = .unregistering(isSent: true)
            return [.send(expiry: .zero)]
        case .unregistering(isSent: true): return end()
        case .idle, .registered, .pausing, .ended: return unasked()
        }
    }

    /// Takes any other final response; a challenge only when it cannot be answered.
    /// - Parameters:
    ///   - minExpiry: Min-Expires of a 423.
    ///   - retryAfter: Retry-After.
    ///   - random: a number in 0..<1, so that not all registrations retry at the same time.
    package mutating func refused(
        status: Int, minExpiry: Duration?, retryAfter: Duration?, random: Double
    ) -> [RegistrationAction] {
        switch state {
        case .registering(var sent):
            if status == 423, let minExpiry, minExpiry > expiry, minExpiry <= timing.maxExpiry, !sent.isLengthened {
                sent.isLengthened = true
                expiry = minExpiry
                state = .registering(sent)
                return [.send(expiry: expiry)]
            }
            // The registrar's Retry-After has precedence; trying again soon after a refusal could get an account
            // locked.
            let asked = retryAfter.map { max(.zero, min($0, timing.maxExpiry)) }
            let isRefusal = (400..<500).contains(status) && status != 408 && status != 480
            let pause = asked ?? (isRefusal ? timing.longestPause : nextPause(random: random))
            return lost(status: status, pause: pause)
        case .unregistering: return end()
        case .idle, .registered, .pausing, .ended: return unasked()
        }
    }

    /// Called when there was no response, or the request could not be sent.
    /// - Parameter random: a number in 0..<1.
    package mutating func failed(random: Double) -> [RegistrationAction] {
        switch state {
        case .registering: return lost(status: nil, pause: nextPause(random: random))
        case .unregistering: return end()
        case .idle, .registered, .pausing, .ended: return unasked()
        }
    }

    /// Removes the binding.
    package mutating func stop() -> [RegistrationAction] {
        switch state {
        case .registered:
            state = .unregistering(isSent: true)
            return [.send(expiry: .zero)]
        case .registering:
            // Registrars refuse REGISTERs that overtake each other.
            state = .unregistering(isSent: false)
            return []
        case .idle, .pausing: return end()
        case .unregistering, .ended:
            // Stopped twice, by the drain and by its deadline.
            return []
        }
    }

    private mutating func lost(status: Int?, pause: Duration) -> [RegistrationAction] {
        failures += 1
        state = .pausing
        return [.tellLost(status: status, again: pause), .wait(pause)]
    }

    private mutating func end() -> [RegistrationAction] {
        state = .ended
        return [.tellEnded]
    }

    private func unasked() -> [RegistrationAction] {
        assertionFailure("an outcome of a REGISTER that is not in progress")
        return []
    }

    /// The pause doubles with each failure and is shortened by up to a half at random.
    private func nextPause(random: Double) -> Duration {
        BackOff(base: timing.firstPause, ceiling: timing.longestPause)
            .delay(attempt: failures, fromHalfBy: 1 - min(max(random, 0), 1))
    }

    /// The time until the refresh of a binding with this lifetime: it is due a fifth of the lifetime before the end,
    /// but at most a minute before it.
    private static func refresh(of lifetime: Duration) -> Duration {
        max(.seconds(1), lifetime - min(lifetime / 5, .seconds(60)))
    }
}
