import Testing

@testable import SIPBridgeLogic

@Suite("Registration")
struct RegistrationStateMachineTests {
    @Test("Registers, refreshes before expiry, unregisters")
    func life() {
        var machine = RegistrationStateMachine()
        #expect(machine.start() == [.send(expiry: .seconds(3_600))])
        #expect(machine.accepted(for: .seconds(100)) == [.tellRegistered(for: .seconds(100)), .wait(.seconds(80))])
        #expect(machine.timeIsUp() == [.send(expiry: .seconds(3_600))])
        #expect(
            machine.accepted(for: .seconds(3_600)) == [.tellRegistered(for: .seconds(3_600)), .wait(.seconds(3_540))])
        #expect(machine.stop() == [.send(expiry: .zero)])
        #expect(machine.stop() == [])
        #expect(machine.accepted(for: nil) == [.tellEnded])
        #expect(machine.timeIsUp() == [])
    }

    @Test("Retry pauses double up to a maximum, with jitter; a success resets them")
    func pauses() {
        var machine = RegistrationStateMachine()
        _ = machine.start()
        for pause in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            #expect(
                machine.failed(random: 0) == [.tellLost(status: nil, again: .seconds(pause)), .wait(.seconds(pause))])
            #expect(machine.timeIsUp() == [.send(expiry: .seconds(3_600))])
        }
        #expect(machine.refused(status: 503, minExpiry: nil, retryAfter: nil, random: 0.5).last == .wait(.seconds(225)))
        _ = machine.timeIsUp()
        _ = machine.accepted(for: .seconds(60))
        _ = machine.timeIsUp()
        #expect(machine.failed(random: 0) == [.tellLost(status: nil, again: .seconds(2)), .wait(.seconds(2))])
    }

    @Test("After a refusal the pause is the longest one, unless the registrar sends Retry-After")
    func refusals() {
        var machine = RegistrationStateMachine()
        _ = machine.start()
        #expect(
            machine.refused(status: 403, minExpiry: nil, retryAfter: nil, random: 0)
                == [.tellLost(status: 403, again: .seconds(300)), .wait(.seconds(300))])
        _ = machine.timeIsUp()
        #expect(
            machine.refused(status: 503, minExpiry: nil, retryAfter: .seconds(7), random: 0)
                == [.tellLost(status: 503, again: .seconds(7)), .wait(.seconds(7))])
    }

    @Test("A 423 raises the interval once, within bounds")
    func tooBrief() {
        var machine = RegistrationStateMachine()
        _ = machine.start()
        #expect(
            machine.refused(status: 423, minExpiry: .seconds(7_200), retryAfter: nil, random: 0) == [
                .send(expiry: .seconds(7_200))
            ])
        #expect(
            machine.refused(status: 423, minExpiry: .seconds(8_000), retryAfter: nil, random: 0)
                == [.tellLost(status: 423, again: .seconds(300)), .wait(.seconds(300))])
        _ = machine.timeIsUp()
        #expect(
            machine.refused(status: 423, minExpiry: .seconds(1_000_000), retryAfter: nil, random: 0)
                == [.tellLost(status: 423, again: .seconds(300)), .wait(.seconds(300))])
    }

    @Test("When stopped during a REGISTER, the unregistering one waits for its answer")
    func stopping() {
        var machine = RegistrationStateMachine()
        _ = machine.start()
        #expect(machine.stop() == [])
        #expect(machine.accepted(for: .seconds(60)) == [.send(expiry: .zero)])
        #expect(machine.failed(random: 0) == [.tellEnded])

        var paused = RegistrationStateMachine()
        _ = paused.start()
        _ = paused.failed(random: 0)
        #expect(paused.stop() == [.tellEnded])
    }

    @Test("A 200 that does not list our Contact is a failure")
    func missing() {
        var machine = RegistrationStateMachine()
        _ = machine.start()
        #expect(machine.accepted(for: nil) == [.tellLost(status: 200, again: .seconds(300)), .wait(.seconds(300))])
    }

    @Test("The expiry of our Contact in a response")
    func binding() {
        func lifetime(_ headers: [(String, String)]) -> Duration? {
            let response = SIPSample.response(200, headers: headers.map { SIPHeaderField($0.0, $0.1) })
            return RegistrationBinding.lifetime(
                in: response, contact: "sip:u@192.0.2.1:5060;transport=tcp", asked: .seconds(600))
        }
        #expect(lifetime([("Contact", "<sip:u@192.0.2.1:5060>;expires=90")]) == .seconds(90))
        #expect(
            lifetime([("m", "<sip:v@192.0.2.2>;expires=5, \"a, <b>\" <sip:u@192.0.2.1:5060;x>;q=1;Expires=80")])
                == .seconds(80))
        #expect(lifetime([("Contact", "sip:u@192.0.2.1:5060"), ("Expires", "70")]) == .seconds(70))
        #expect(lifetime([("Contact", "<sip:u@192.0.2.1:5060>")]) == .seconds(600))
        #expect(lifetime([("Contact", "<sip:u@192.0.2.1:5061>;expires=90")]) == nil)
        #expect(lifetime([("Expires", "90")]) == nil)
    }
}
