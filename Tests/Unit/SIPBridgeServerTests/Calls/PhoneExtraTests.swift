import SIPBridgeLogic
import SignalingProtocol
import Testing

@testable import SIPBridgeServer

@Suite("JSON for users and from them")
struct PhoneExtraTests {
    @Test func reportsSayWhy() {
        #expect(
            PhoneExtra.text(.failed(.inviteOther), DialogNote(.rejected, status: 404, phrase: "Not \"Found\""))
                == #"{"code":700,"reason":"rejected","sip_status":404,"sip_reason":"Not \"Found\""}"#)
        #expect(PhoneExtra.text(.ended(.success), DialogNote(.hangup)) == #"{"code":0,"reason":"hangup"}"#)
        #expect(PhoneExtra.text(.ringing, DialogNote(status: 180, phrase: "")) == #"{"sip_status":180}"#)
        #expect(PhoneExtra.text(.claimed, DialogNote()) == "{}")
    }

    @Test func digitsAreRead() {
        #expect(PhoneExtra.digits(PhoneExtra.digit("#")) == "#")
        #expect(PhoneExtra.digits(#"{"msgtype":"dtmf","msgdata":12}"#) == "12")
        #expect(PhoneExtra.digits(#"{"msgtype":"text","msgdata":"12"}"#) == nil)
        #expect(PhoneExtra.digits("12") == nil)
    }

    @Test func codesAreRead() {
        #expect(PhoneExtra.code(#"{"code":704,"reason":"timeout"}"#) == .inviteTimeout)
        #expect(PhoneExtra.code(#"{"code":99999999999999999999}"#) == nil)
        #expect(PhoneExtra.code("") == nil)
    }

    @Test func digitsThatWaitAreBounded() throws {
        var digits = PhoneDigits()
        let text = try DTMFDigits(String(repeating: "1", count: 128))
        let held = [digits.hold(text), digits.hold(text), digits.hold(try DTMFDigits("1"))]
        #expect(held == [true, true, false])
    }

    @Test func aPeersDigitsComeOneWay() {
        var digits = PhoneDigits()
        let admitted = [digits.admits(.info), digits.admits(.event), digits.admits(.info)]
        #expect(admitted == [true, false, true])
    }
}
