import BusProtocol
import SignalingProtocol
import Testing

@Suite struct BeforeHookTests {
    @Test func pointsAreASetInOneByte() {
        let points = HookPoints([.send, .login, .send])
        #expect(points.points == [.login, .send])
        #expect(points.contains(.login) && points.contains(.send) && !points.contains(.join))
        #expect(MemoryLayout<HookPoints>.size == 1)
        #expect(HookPoints(HookPoint.allCases).points == HookPoint.allCases)
    }

    @Test func pointsHaveAText() {
        #expect(HookPoints([.send, .join]).text == "join send")
        #expect(HookPoints(text: "join send") == HookPoints([.send, .join]))
        // A word of a later release.
        #expect(HookPoints(text: "join dance") == HookPoints([.join]))
        #expect(HookPoints(text: "").isEmpty)
    }
}
