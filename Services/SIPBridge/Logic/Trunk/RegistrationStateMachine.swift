/// How a registration is kept up.
package struct RegistrationTiming: Equatable, Sendable {
    /// The time that is asked for, s.
    package var expiry = 3_600
    /// The longest that a registrar may ask for with 423, s.
    package var maxExpiry = 86_400
    /// The first pause after a failure, ms; it doubles each time.
    package var firstPause: UInt64 = 2_000
    /// The longest pause, ms; also the pause after a refusal.
    package var longestPause: UInt64 = 300_000

    /// The usual timing.
    package init() {}
}

/// What is to be done for a registration.
package enum RegistrationAction: Equatable, Sendable {
    /// Send REGISTER with this Expires; 0 takes the binding away.
    case send(expiry: Int)
    /// Wait so many ms, then tell by ``RegistrationStateMachine/timeIsUp()``. One timer only: the latest holds.
    case wait(UInt64)
    /// Tell that calls can come, for so many seconds.
    case tellRegistered(seconds: Int)
    /// Tell that the binding is lost, or never came about; a status, or nil when nothing came.
    case tellLost(status: Int?)
    /// It is over.
    case tellEnded
}

/// A registration from its first REGISTER to its last. Source: RFC 3261 section 10.2, RFC 5626 section 4.5 for the pauses.
package struct RegistrationStateMachine: ~Copyable {
    private enum State {
        /// Nothing was sent. -> registering, ended
        case idle
        /// A REGISTER is under way. -> registered, pausing, unregistering
        case registering(Sent)
        /// The binding stands; the timer runs to its refresh. -> registering, unregistering
        case registered
        /// After a failure; the timer runs. -> registering, ended
        case pausing
        /// The last REGISTER is under way, or waits for the one before to end. -> ended
        case unregistering(isSent: Bool)
        /// Nothing more.
        case ended
    }

    private struct Sent {
        /// Whether the registrar asked for a longer time already.
        var isLengthened = false
    }

    private let timing: RegistrationTiming
    private var state = State.idle
    private var failures = 0
    private var expiry: Int

    /// Nothing is sent before ``start()``.
    package init(timing: RegistrationTiming = RegistrationTiming()) {
        self.timing = timing
        expiry = timing.expiry
    }

    /// Begins.
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

    /// The timer ran out.
    package mutating func timeIsUp() -> [RegistrationAction] {
        switch state {
        case .registered, .pausing:
            state = .registering(Sent())
            return [.send(expiry: expiry)]
        case .idle, .registering, .unregistering, .ended:
            // A timer that ran out while it was being stopped.
            return []
        }
    }

    /// A 2xx came.
    /// - Parameter seconds: how long our binding stands; nil when the registrar lists others only, or none.
    package mutating func accepted(seconds: Int?) -> [RegistrationAction] {
        switch state {
        case .registering:
            guard let seconds, seconds > 0 else { return lost(status: nil, pause: nil) }
            failures = 0
            state = .registered
            return [.tellRegistered(seconds: seconds), .wait(Self.refresh(after: seconds))]
        case .unregistering(isSent: false):
            state = .unregistering(isSent: true)
            return [.send(expiry: 0)]
        case .unregistering(isSent: true): return end()
        case .idle, .registered, .pausing, .ended: return unasked()
        }
    }

    /// A final response of another kind came; a challenge only when it cannot be answered.
    /// - Parameters:
    ///   - minExpiry: Min-Expires of a 423, s.
    ///   - retryAfter: Retry-After, s.
    /// - Parameter random: a number in 0..<1, so that not all come back at once.
    package mutating func refused(
        status: Int, minExpiry: Int?, retryAfter: Int?, random: Double
    ) -> [RegistrationAction] {
        switch state {
        case .registering(var sent):
            if status == 423, let minExpiry, minExpiry > expiry, minExpiry <= timing.maxExpiry, !sent.isLengthened {
                sent.isLengthened = true
                expiry = minExpiry
                state = .registering(sent)
                return [.send(expiry: expiry)]
            }
            // The registrar's own word goes first; asking again soon after a refusal gets an account locked.
            let asked = retryAfter.map { UInt64(max(0, min($0, timing.maxExpiry))) * 1_000 }
            let isRefusal = (400..<500).contains(status) && status != 408 && status != 480
            let pause = asked ?? (isRefusal ? timing.longestPause : nextPause(random: random))
            return lost(status: status, pause: pause)
        case .unregistering: return end()
        case .idle, .registered, .pausing, .ended: return unasked()
        }
    }

    /// Nothing came, or it could not be sent.
    /// - Parameter random: a number in 0..<1.
    package mutating func failed(random: Double) -> [RegistrationAction] {
        switch state {
        case .registering: return lost(status: nil, pause: nextPause(random: random))
        case .unregistering: return end()
        case .idle, .registered, .pausing, .ended: return unasked()
        }
    }

    /// Takes the binding away.
    package mutating func stop() -> [RegistrationAction] {
        switch state {
        case .registered:
            state = .unregistering(isSent: true)
            return [.send(expiry: 0)]
        case .registering:
            // Registrars refuse REGISTERs that overtake each other.
            state = .unregistering(isSent: false)
            return []
        case .idle, .pausing: return end()
        case .unregistering, .ended:
            // Stopped twice, by a drain and its deadline.
            return []
        }
    }

    private mutating func lost(status: Int?, pause: UInt64?) -> [RegistrationAction] {
        failures += 1
        state = .pausing
        return [.tellLost(status: status), .wait(pause ?? timing.longestPause)]
    }

    private mutating func end() -> [RegistrationAction] {
        state = .ended
        return [.tellEnded]
    }

    private func unasked() -> [RegistrationAction] {
        assertionFailure("an outcome of a REGISTER that is not under way")
        return []
    }

    /// Doubled for each failure before, less up to a half.
    private func nextPause(random: Double) -> UInt64 {
        let doubled = timing.firstPause << UInt64(min(failures, 16))
        let pause = min(doubled, timing.longestPause)
        return pause - UInt64(Double(pause) / 2 * min(max(random, 0), 1))
    }

    /// A fifth of the time before the end, but no more than a minute before it, in ms.
    private static func refresh(after seconds: Int) -> UInt64 {
        let margin = min(seconds * 1_000 / 5, 60_000)
        return UInt64(max(1_000, seconds * 1_000 - margin))
    }
}
