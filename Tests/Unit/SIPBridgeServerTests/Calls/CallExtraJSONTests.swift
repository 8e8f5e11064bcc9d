import BusProtocol
import SIPBridgeLogic
import SignalingProtocol
import Testing

@testable import SIPBridgeServer

@Suite("The JSON of a call's `extra`")
struct CallExtraJSONTests {
    @Test func reportsSayWhy() {
        #expect(
            CallExtraJSON.text(.failed(.inviteOther), DialogNote(.rejected, status: 404, phrase: "Not \"Found\""))
                == #"{"code":700,"reason":"rejected","sip_status":404,"sip_reason":"Not \"Found\""}"#)
        #expect(CallExtraJSON.text(.ended(.success), DialogNote(.hangup)) == #"{"code":0,"reason":"hangup"}"#)
        #expect(CallExtraJSON.text(.ringing, DialogNote(status: 180, phrase: "")) == #"{"sip_status":180}"#)
        #expect(CallExtraJSON.text(.claimed, DialogNote()) == "{}")
    }

    @Test func digitsAreRead() {
        #expect(CallExtraJSON.digits(CallExtraJSON.digit("#")) == "#")
        #expect(CallExtraJSON.digits(#"{"msgtype":"dtmf","msgdata":12}"#) == "12")
        #expect(CallExtraJSON.digits(#"{"msgtype":"text","msgdata":"12"}"#) == nil)
        #expect(CallExtraJSON.digits("12") == nil)
    }

    @Test func codesAreRead() {
        #expect(CallExtraJSON.code(#"{"code":704,"reason":"timeout"}"#) == .inviteTimeout)
        #expect(CallExtraJSON.code(#"{"code":99999999999999999999}"#) == nil)
        #expect(CallExtraJSON.code("") == nil)
    }

    @Test func digitsThatWaitAreBounded() throws {
        var digits = PhoneDigits()
        let text = try DTMFDigits(String(repeating: "1", count: 128))
        let held = [digits.hold(text), digits.hold(text), digits.hold(try DTMFDigits("1"))]
        #expect(held == [true, true, false])
    }

    @Test func digitsAreTakenFromRTPOrINFONotFromBoth() {
        var digits = PhoneDigits()
        let admitted = [digits.admits(.info), digits.admits(.event), digits.admits(.info)]
        #expect(admitted == [true, false, true])
    }
}
