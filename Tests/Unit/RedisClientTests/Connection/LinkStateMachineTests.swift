import Testing

@testable import RedisClient

@Suite struct LinkStateMachineTests {
    @Test func goodDayAndOutage() {
        var machine = LinkStateMachine()
        #expect(machine.start() == .connect)
        #expect(machine.start() == .none)
        #expect(machine.connected() == .handshake)
        #expect(machine.isHandshaking == true)
        #expect(machine.handshakeSucceeded() == .announceUp)
        #expect(machine.isUp == true)
        #expect(machine.lost() == .wait(failures: 0, wasUp: true))
        #expect(machine.lost() == .none)
        #expect(machine.waited() == .connect)
        #expect(machine.lost() == .wait(failures: 1, wasUp: false))
        #expect(machine.waited() == .connect)
        #expect(machine.connected() == .handshake)
        #expect(machine.lost() == .wait(failures: 2, wasUp: false))
        #expect(machine.waited() == .connect)
        #expect(machine.connected() == .handshake)
        #expect(machine.handshakeSucceeded() == .announceUp)
        #expect(machine.lost() == .wait(failures: 0, wasUp: true))
    }

    @Test func closing() {
        var machine = LinkStateMachine()
        #expect(machine.start() == .connect)
        #expect(machine.close() == .close(wasUp: false))
        #expect(machine.close() == .none)
        // The connection attempt that was under way completes too late.
        #expect(machine.connected() == .discard)
        #expect(machine.lost() == .none)
        #expect(machine.waited() == .none)
        #expect(machine.start() == .none)
    }

    @Test func closingWhileUp() {
        var machine = LinkStateMachine()
        _ = machine.start()
        _ = machine.connected()
        _ = machine.handshakeSucceeded()
        #expect(machine.close() == .close(wasUp: true))
        #expect(machine.isUp == false)
    }
}
