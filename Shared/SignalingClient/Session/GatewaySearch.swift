internal import SignalingProtocol

/// Decides which gateway to try next, after which pause, and when to give up.
package struct GatewaySearch {
    /// The number of the current attempt to connect. Reports of earlier attempts are recognised by it and ignored.
    package private(set) var attempt = 0
    /// The gateways known from discovery or from the app.
    private var endpoints: [GatewayEndpoint] = []
    /// Whether they are to be tried in their order, because discovery was asked for those at which a channel's members
    /// gather.
    private var isOrdered = false
    /// The attempt at which each gateway was tried last, in this series.
    private var tried: [GatewayEndpoint: Int] = [:]
    /// The gateway in use, or the last one that was tried.
    package private(set) var current: GatewayEndpoint?
    /// When the current series of attempts began, in ms.
    package private(set) var since: Int64 = 0
    /// The number of failed attempts in this series.
    private(set) var failures = 0
    /// The last answer in this series with which the cluster could not decide on a login; reported to the app if the
    /// series fails.
    var lastRefusal: SignalingError?

    /// Knows no gateway yet.
    package init() {}

    /// Begins a series of attempts to log in or to resume.
    package mutating func begin(now: Int64) {
        since = now
        failures = 0
        // The gateway whose connection was lost is not the first choice.
        tried = current.map { [$0: attempt] } ?? [:]
    }

    /// Gives up the current attempt; its reports are ignored from now on.
    package mutating func abandonAttempt() { attempt += 1 }

    /// Begins the next attempt and returns its number.
    package mutating func nextAttempt() -> Int {
        attempt += 1
        return attempt
    }

    /// Stores what discovery found. After an empty result, the gateways found before are kept.
    /// - Parameter isOrdered: whether they are to be tried in their order.
    package mutating func found(_ endpoints: [GatewayEndpoint], isOrdered: Bool) {
        guard !endpoints.isEmpty else { return }
        self.endpoints = endpoints
        self.isOrdered = isOrdered
    }

    /// Chooses a gateway; nil when none is known.
    package mutating func choose(_ chance: (ClosedRange<Int64>) -> Int64) -> GatewayEndpoint? {
        guard let chosen = isOrdered ? firstUntried : other(chance) else { return nil }
        current = chosen
        tried[chosen] = attempt
        return chosen
    }

    /// The first gateway that was not tried in this series; when all were, the one whose turn was longest ago.
    private var firstUntried: GatewayEndpoint? {
        // The first of several that are least.
        endpoints.min { tried[$0, default: 0] < tried[$1, default: 0] }
    }

    /// A random gateway other than the last one, if there is another.
    private func other(_ chance: (ClosedRange<Int64>) -> Int64) -> GatewayEndpoint? {
        var choices = Array(Set(endpoints)).sorted { ($0.host, $0.port) < ($1.host, $1.port) }
        if choices.count > 1 { choices.removeAll { $0 == current } }
        guard !choices.isEmpty else { return nil }
        return choices[Int(chance(0...Int64(choices.count - 1)))]
    }

    /// Records that the attempt failed.
    /// - Returns: the pause before the next one, in ms: random, below a bound that doubles each time.
    package mutating func failed(_ timing: ClientTiming, _ chance: (ClosedRange<Int64>) -> Int64) -> Int64 {
        failures += 1
        abandonAttempt()
        let doubled = timing.backOff.milliseconds << Int64(min(failures - 1, 20))
        return chance(0...min(timing.backOffLimit.milliseconds, doubled))
    }
}
