import Testing

@testable import SignalingClient

@Suite("Gateways at which a channel's members gather")
struct GatheringTests {
    private static let gateways = (1...3).map { GatewayEndpoint(host: "10.0.0.\($0)", port: 1) }

    /// A client that looks for gateways by discovery, whose random numbers are always the highest: a random choice
    /// among the three is not the first.
    private func machine(channel: String? = nil) -> ClientStateMachine {
        var configuration = Script.configuration
        configuration.source = .discovery(["http://a"])
        configuration.channel = channel
        configuration.timing.loginTime = .seconds(300)
        return Script.machine(configuration, lowest: false)
    }

    /// Reports what was found, and that the connection fails or is lost at once; waits until the next attempt.
    /// - Returns: the gateway that was tried.
    private func tried(_ machine: inout ClientStateMachine, now: Int64) -> String? {
        let attempt = machine.search.attempt
        let actions = machine.discovered(Self.gateways, attempt: attempt, now: now)
        _ = machine.disconnected(attempt: attempt, now: now)
        _ = machine.tick(now: now + 10_000)
        guard case .connect(_, let chosen)? = actions.first else { return nil }
        return chosen.host
    }

    @Test func theChannelThatWillBeJoinedIsAskedFor() {
        var machine = machine(channel: "tea")
        #expect(machine.start(now: 0) == [.discover(attempt: 1, channel: "tea")])
        #expect(machine.discovered(Self.gateways, attempt: 1, now: 0) == [.connect(attempt: 1, Self.gateways[0])])
    }

    @Test func gatewaysOfAChannelAreTriedInTheirOrder() {
        var machine = machine(channel: "tea")
        _ = machine.start(now: 0)
        let hosts = (0..<4).map { tried(&machine, now: $0 * 20_000) }
        #expect(hosts == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.1"])
    }

    @Test func withoutAChannelTheChoiceIsRandom() {
        var machine = machine()
        #expect(machine.start(now: 0) == [.discover(attempt: 1)])
        #expect(machine.discovered(Self.gateways, attempt: 1, now: 0) == [.connect(attempt: 1, Self.gateways[2])])
    }

    /// The gateway whose connection was lost comes last; at the next loss it is as good as any.
    @Test func aReconnectionGoesToAnotherGatewayOfTheChannelThatTheClientIsIn() {
        var machine = machine(channel: "coffee")
        _ = machine.start(now: 0)
        _ = machine.discovered(Self.gateways, attempt: 1, now: 0)
        _ = machine.connected(attempt: 1, now: 0)
        _ = machine.received(Script.loggedIn, attempt: 1, now: 0)
        machine.membership.joined("tea", event: 1)
        for (now, gateway) in [(Int64(1_000), 1), (20_000, 0)] {
            _ = machine.disconnected(attempt: machine.search.attempt, now: now)
            let actions = machine.tick(now: now + 1_000)
            let attempt = machine.search.attempt
            #expect(actions == [.discover(attempt: attempt, channel: "tea")])
            #expect(
                machine.discovered(Self.gateways, attempt: attempt, now: now + 1_000)
                    == [.connect(attempt: attempt, Self.gateways[gateway])])
            _ = machine.connected(attempt: attempt, now: now + 1_000)
            _ = machine.received(Script.resumed(channel: "tea"), attempt: attempt, now: now + 1_000)
        }
    }
}
