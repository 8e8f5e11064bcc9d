import BusProtocol
import GatewayLogic
import Pacing
import SignalingProtocol
import Testing

@Suite struct MediaSocketTests {
    private let one = ParticipantID("p1")
    private let details: MediaSocket.Participant
    private let channel: MediaChannelName

    init() throws {
        channel = try MediaChannelName("room")
        details = MediaSocket.Participant(node: MediaNodeID("n"), channel: channel, keyUID: 7)
    }

    private func time(_ seconds: Double) -> LocalTime {
        LocalTime(nanoseconds: Int64(seconds * 1e9) + 1_000_000_000_000)
    }

    private func publication(_ n: Int64) -> MediaPublication {
        MediaPublication(participants: [one], channel: channel, event: .joined(uid: 7, flags: [], n: n))
    }

    /// Takes the value of a call that changes its object, which #expect cannot.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    @Test func sixteenCallsMayBeUnanswered() {
        var socket = MediaSocket(now: time(0))
        for _ in 0..<MediaSocket.calls { expect(socket.begins() == nil) }
        expect(socket.begins() == .rateLimited)
        socket.answered()
        expect(socket.begins() == nil)
        expect(socket.begins() == .rateLimited)
    }

    @Test func fiveJoinsInTenSeconds() {
        var socket = MediaSocket(now: time(0))
        for second in 0..<MediaSocket.joins { expect(socket.mayJoin(now: time(Double(second))) == nil) }
        expect(socket.mayJoin(now: time(9.9)) == .rateLimited)
        expect(socket.mayJoin(now: time(10)) == nil)
        expect(socket.mayJoin(now: time(10.9)) == .rateLimited)
        expect(socket.mayJoin(now: time(11)) == nil)
    }

    @Test func changesHaveARate() {
        var socket = MediaSocket(now: time(0))
        for _ in 0..<MediaSocket.changesAtOnce { expect(socket.mayChange(now: time(0)) == nil) }
        expect(socket.mayChange(now: time(0)) == .rateLimited)
        for _ in 0..<MediaSocket.changesPerSecond { expect(socket.mayChange(now: time(1)) == nil) }
        expect(socket.mayChange(now: time(1)) == .rateLimited)
    }

    @Test func sixteenParticipantsAtATime() {
        var socket = MediaSocket(now: time(0))
        for number in 0..<MediaSocket.participants {
            expect(socket.mayJoin(now: time(Double(number) * 10)) == nil)
            socket.asked(for: ParticipantID("p\(number)"))
        }
        expect(socket.mayJoin(now: time(200)) == .refused)
        expect(socket.mayBind(ParticipantID("another"), now: time(200)) == .refused)
        expect(socket.mayBind(ParticipantID("p3"), now: time(200)) == nil)
        socket.ended(ParticipantID("p3"), now: time(200))
        expect(socket.mayJoin(now: time(201)) == nil)
        #expect(socket.all.count == MediaSocket.participants - 1)
    }

    @Test func eventsWaitForTheAnswerToTheJoin() {
        var socket = MediaSocket(now: time(0))
        expect(socket.received(publication(1), for: one) == false)
        socket.asked(for: one)
        for n in 1...Int64(MediaSocket.heldEvents + 3) { expect(socket.received(publication(n), for: one) == false) }
        let held = socket.bound(one, details)
        #expect(held == (1...Int64(MediaSocket.heldEvents)).map(publication))
        expect(socket.received(publication(90), for: one))
        socket.ended(one, now: time(1))
        expect(socket.received(publication(91), for: one) == false)
    }

    @Test func onlyItsOwnParticipantsLeave() throws {
        var socket = MediaSocket(now: time(0))
        socket.asked(for: one)
        #expect(socket.details(of: one, in: channel) == nil)
        _ = socket.bound(one, details)
        #expect(socket.details(of: one, in: channel) == details)
        #expect(socket.details(of: one, in: try MediaChannelName("other")) == nil)
        #expect(socket.details(of: ParticipantID("p2"), in: channel) == nil)
    }

    @Test func aSocketForMediaAloneIsClosedWithoutParticipants() throws {
        var socket = MediaSocket(now: time(0))
        #expect(!socket.isIdle(now: time(100)), "that of a session is kept")
        socket.greets(try AppID("app"))
        #expect(socket.hello == .asking(try AppID("app")))
        socket.appIsKnown(line: "line")
        #expect(socket.hello == .open(try AppID("app")))
        #expect(!socket.isIdle(now: time(60)) && socket.isIdle(now: time(60.1)))
        socket.asked(for: one)
        #expect(!socket.isIdle(now: time(100)))
        socket.ended(one, now: time(100))
        #expect(!socket.isIdle(now: time(160)) && socket.isIdle(now: time(160.1)))
    }
}
