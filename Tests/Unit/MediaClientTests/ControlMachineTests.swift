import SignalingClient
import SignalingWire
import Testing

@testable import MediaClient

@Suite struct ControlMachineTests {
    private let gateway = GatewayEndpoint(host: "gateway", port: 1)
    private let other = GatewayEndpoint(host: "other", port: 2)

    /// A machine that takes the shortest pauses and the first choices.
    private func machine(_ endpoints: [GatewayEndpoint]) -> ControlMachine {
        ControlMachine(app: "app", source: .addresses(endpoints), chance: \.lowerBound)
    }

    private func online() -> ControlMachine {
        var machine = machine([gateway])
        #expect(machine.handle(.start, now: 0) == [.connect(attempt: 1, gateway)])
        #expect(machine.handle(.connected(attempt: 1), now: 10) == [.send(ControlRequest.hello(app: "app"))])
        #expect(machine.handle(.received(.hello(.success("line")), attempt: 1), now: 20) == [.online])
        return machine
    }

    private let call = ControlCall(function: .leave, arguments: [JSONMember("pid", "p")])

    @Test func saysHelloAndCalls() {
        var machine = online()
        #expect(machine.isOnline)
        #expect(
            machine.handle(.call(call, ticket: 7), now: 30) == [.send(ControlRequest.call(call, id: 1, line: "line"))])
        let answer = JSONValue.object([JSONMember("result", "ok")])
        #expect(
            machine.handle(.received(.answer(id: 1, .success(answer)), attempt: 1), now: 40)
                == [.answer(ticket: 7, .success(answer))])
        // A second answer is nobody's.
        #expect(machine.handle(.received(.answer(id: 1, .success(answer)), attempt: 1), now: 50) == [])
    }

    @Test func aCallWithoutAConnectionFailsAtOnce() {
        var machine = machine([gateway])
        #expect(machine.handle(.call(call, ticket: 1), now: 0) == [.answer(ticket: 1, .failure(.noGateway))])
    }

    @Test func aCallWithoutAnAnswerFailsAfterFiveSeconds() {
        var machine = online()
        _ = machine.handle(.call(call, ticket: 3), now: 100)
        #expect(machine.due == 5100)
        #expect(machine.handle(.tick, now: 5100) == [.answer(ticket: 3, .failure(.noAnswer))])
    }

    @Test func callsWithoutAnswersAreBounded() {
        var machine = online()
        for ticket in 1...ControlMachine.callBound { _ = machine.handle(.call(call, ticket: ticket), now: 100) }
        #expect(machine.handle(.call(call, ticket: 99), now: 100) == [.answer(ticket: 99, .failure(.noGateway))])
    }

    @Test func aLostConnectionFailsItsCallsAndAnotherGatewayIsTried() {
        var machine = machine([gateway, other])
        _ = machine.handle(.start, now: 0)
        _ = machine.handle(.connected(attempt: 1), now: 0)
        _ = machine.handle(.received(.hello(.success("line")), attempt: 1), now: 0)
        _ = machine.handle(.call(call, ticket: 5), now: 0)
        #expect(
            machine.handle(.disconnected(attempt: 1), now: 1000) == [
                .disconnect, .answer(ticket: 5, .failure(.noGateway)), .connect(attempt: 2, other),
            ])
        #expect(!machine.isOnline)
        // What the connection of before still says counts no more.
        #expect(machine.handle(.received(.pong, attempt: 1), now: 1001) == [])
        #expect(machine.handle(.disconnected(attempt: 1), now: 1001) == [])
    }

    @Test func anUnknownAppIsFinalAndATroubleIsNot() {
        var machine = machine([gateway])
        _ = machine.handle(.start, now: 0)
        _ = machine.handle(.connected(attempt: 1), now: 0)
        let busy = MediaError(code: 12, reason: "rate_limited", message: "")
        #expect(machine.handle(.received(.hello(.failure(busy)), attempt: 1), now: 0) == [.disconnect])
        #expect(machine.handle(.tick, now: 1) == [.connect(attempt: 3, gateway)])
        _ = machine.handle(.connected(attempt: 3), now: 2)
        let unknown = MediaError(code: 101, reason: "unknown_app", message: "")
        #expect(
            machine.handle(.received(.hello(.failure(unknown)), attempt: 3), now: 3) == [
                .disconnect, .refused(unknown),
            ])
        #expect(machine.due == nil)
    }

    @Test func withoutAGatewayForFiveSecondsTheAppIsWarnedOnce() {
        var machine = machine([gateway])
        _ = machine.handle(.start, now: 0)
        var warnings = 0
        for now in stride(from: Int64(0), through: 20_000, by: 100) {
            warnings += machine.handle(.tick, now: now).filter { $0 == .noGateway }.count
        }
        #expect(warnings == 1)
    }

    @Test func aGatewayThatDoesNotAnswerPingsIsLeft() {
        var machine = online()
        var actions: [ControlMachine.Action] = []
        for _ in 0..<4 {
            guard let due = machine.due else { break }
            actions += machine.handle(.tick, now: due)
        }
        #expect(actions.last == .connect(attempt: 2, gateway))
    }

    @Test func stopping() {
        var machine = online()
        _ = machine.handle(.call(call, ticket: 2), now: 0)
        #expect(machine.handle(.stop, now: 1) == [.disconnect, .answer(ticket: 2, .failure(.noGateway))])
        #expect(machine.handle(.stop, now: 1) == [])
        #expect(machine.handle(.start, now: 1) == [])
    }
}
