internal import SignalingProtocol

/// Which gateway to try next, after which pause, and for how long to go on.
struct GatewaySearch {
    /// The number of the present attempt to connect. What a former attempt reports is dropped by its number.
    private(set) var attempt = 0
    /// The gateways that discovery or the app named.
    private var endpoints: [GatewayEndpoint] = []
    /// The gateway in use, or tried last.
    private(set) var current: GatewayEndpoint?
    /// When this row of attempts began, ms.
    private(set) var since: Int64 = 0
    /// Attempts of this row that failed.
    private(set) var failures = 0
    /// The cluster's answer to the last login of this row that it could not decide; told to the app when the row fails.
    var lastRefusal: SignalingError?

    /// Begins a row of attempts: to log in, or to resume.
    mutating func begin(now: Int64) {
        since = now
        failures = 0
    }

    /// Gives the present attempt up: what it still reports is dropped.
    mutating func abandonAttempt() { attempt += 1 }

    /// Begins the next attempt.
    mutating func nextAttempt() -> Int {
        attempt += 1
        return attempt
    }

    /// Keeps what discovery found. An empty answer leaves the gateways of the last one.
    mutating func found(_ endpoints: [GatewayEndpoint]) {
        if !endpoints.isEmpty { self.endpoints = endpoints }
    }

    /// Chooses a gateway by chance, another than the last one if there is another; nil when none is known.
    mutating func choose(_ chance: (ClosedRange<Int64>) -> Int64) -> GatewayEndpoint? {
        var choices = Array(Set(endpoints)).sorted { ($0.host, $0.port) < ($1.host, $1.port) }
        if choices.count > 1 { choices.removeAll { $0 == current } }
        guard !choices.isEmpty else { return nil }
        current = choices[Int(chance(0...Int64(choices.count - 1)))]
        return current
    }

    /// The attempt failed.
    /// - Returns: the pause before the next one, ms: by chance below a bound that doubles each time.
    mutating func failed(_ timing: ClientTiming, _ chance: (ClosedRange<Int64>) -> Int64) -> Int64 {
        failures += 1
        abandonAttempt()
        let doubled = timing.backOff.milliseconds << Int64(min(failures - 1, 20))
        return chance(0...min(timing.backOffLimit.milliseconds, doubled))
    }
}
