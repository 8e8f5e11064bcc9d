import Testing

@testable import SIPBridgeLogic

@Suite("Digits in SIP INFO")
struct DTMFInfoTests {
    private func hear(_ type: String, _ body: String) -> DTMFInfo.Content {
        var receiver = DTMFInfoReceiver()
        return receiver.receive(contentType: type, body: Array(body.utf8))
    }

    private func digit(_ character: Character) -> DTMFInfo.Content { .digit(DTMFEvent(character)!) }

    @Test("Encoded bodies")
    func golden() {
        #expect(DTMFInfo.relay(DTMFEvent("5")!).contentType == "application/dtmf-relay")
        #expect(DTMFInfo.relay(DTMFEvent("5")!).body == Array("Signal=5\r\nDuration=160\r\n".utf8))
        #expect(DTMFInfo.plain(DTMFEvent("#")!) == DTMFInfo(contentType: "application/dtmf", body: [0x23]))
    }

    @Test("Encoded digits are decoded to the same digit", arguments: "0123456789*#ABCD")
    func roundTrip(character: Character) {
        var receiver = DTMFInfoReceiver()
        let event = DTMFEvent(character)!
        for info in [DTMFInfo.relay(event), DTMFInfo.plain(event)] {
            #expect(receiver.receive(contentType: info.contentType, body: info.body) == .digit(event))
        }
    }

    @Test(
        "dtmf-relay as peers write it",
        arguments: [
            ("Signal=5\r\nDuration=160\r\n", "5"), ("Signal= 5\nDuration= 160", "5"), ("signal=*", "*"),
            ("Duration=250\r\nSIGNAL = #\r\n", "#"), ("Signal=10\r\n", "*"), ("Signal=11\r\n", "#"),
            ("Signal=12\r\n", "A"), ("Signal=d\r\n", "D"), ("Signal=15\r\nDuration=100", "D"), ("Signal=05", "5"),
        ])
    func relay(body: String, expected: Character) {
        #expect(hear("Application/DTMF-Relay; charset=utf-8", body) == digit(expected))
    }

    @Test(
        "dtmf as peers write it",
        arguments: [("5", "5"), ("5\r\n", "5"), ("10", "*"), ("11", "#"), ("*", "*"), (" # ", "#"), ("b", "B")])
    func plain(body: String, expected: Character) {
        #expect(hear("application/dtmf", body) == digit(expected))
    }

    @Test("A hook flash is ignored, malformed bodies are refused, other types are not handled")
    func others() {
        #expect(hear("application/dtmf", "16") == .noDigit)
        #expect(hear("application/dtmf-relay", "Signal=16\r\nDuration=100\r\n") == .noDigit)
        for body in ["", "Signal=", "Signal=x", "Signal=55555", "Duration=160", "Signal=-1", "Signal=1 2", "\u{0}"] {
            #expect(hear("application/dtmf-relay", body) == .malformed)
        }
        #expect(hear("application/dtmf", "12345") == .malformed)
        #expect(hear("application/dtmf", String(repeating: " ", count: 1025)) == .malformed)
        #expect(hear("application/dtmf", "\u{301}") == .malformed)
        #expect(hear("application/media_control+xml", "5") == .unsupportedType)
        #expect(hear("", "5") == .unsupportedType)
    }

    @Test("Binary audio/telephone-event: beginning and end are one press, and so is an end alone")
    func bytes() {
        var receiver = DTMFInfoReceiver()
        let type = "audio/telephone-event"
        #expect(receiver.receive(contentType: type, body: [5, 10, 0, 160]) == digit("5"))
        #expect(receiver.receive(contentType: type, body: [5, 0x8A, 3, 0xC0]) == .noDigit)
        #expect(receiver.receive(contentType: type, body: [5, 0x8A, 3, 0xC0]) == digit("5"))
        #expect(receiver.receive(contentType: type, body: [5, 0x8A, 3, 0xC0]) == digit("5"))
        #expect(receiver.receive(contentType: type, body: [5, 10, 0, 160]) == digit("5"))
        #expect(receiver.receive(contentType: type, body: [6, 0x8A, 0, 160]) == digit("6"))
        #expect(receiver.receive(contentType: type, body: [16, 10, 0, 160]) == .noDigit)
        #expect(receiver.receive(contentType: type, body: Array("10\r\n".utf8)) == digit("*"))
        #expect(receiver.receive(contentType: type, body: Array("Signal=3\r\n".utf8)) == digit("3"))
    }
}
