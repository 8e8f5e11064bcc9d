import BusProtocol
import PostgresStore
import SIPBridgeLogic
import SignalingProtocol
import Testing

@testable import SIPBridgeServer

@Suite("The contents of an outbound INVITE")
struct OutboundCallTests {
    private func plan(
        _ callee: String = "+4930123", extra: String = "", user: String = "alice", owns: Bool = false,
        _ change: (inout SIPTrunk) -> Void = { _ in }
    ) throws -> OutboundCall {
        let app = try AppID("app")
        var trunk = SIPTrunk(app: app, host: "trunk.example")
        change(&trunk)
        let call = PhoneCall(
            id: "1", channel: ChannelKey(app: app, name: try ChannelName("c")), user: try Account(user),
            phone: try Account(callee))
        return try OutboundCall(call, extra: extra, trunk: trunk, ownsNumber: owns)
    }

    private func reason(
        _ callee: String = "1", extra: String = "", _ change: (inout SIPTrunk) -> Void = { _ in }
    ) -> DialogReason? {
        do {
            _ = try plan(callee, extra: extra, change)
            return nil
        } catch let problem as OutboundCall.Problem {
            return problem.reason
        } catch {
            return nil
        }
    }

    @Test func theTargetIsAtTheTrunk() throws {
        #expect(try plan().target == "sip:+4930123@trunk.example:5060")
        #expect(
            try plan("sip:bob@elsewhere") { $0.transport = .tcp }.target == "sip:bob@trunk.example:5060;transport=tcp")
        #expect(
            try plan("tel:+49-30") {
                $0.transport = .tls
                $0.port = 5061
            }.target == "sip:+4930@trunk.example:5061;transport=tls")
        #expect(try plan { $0.host = "::1" }.target == "sip:+4930123@[::1]:5060")
    }

    @Test func theCallerIsWhoIsNamedFirst() throws {
        #expect(try plan().from == "sip:alice@trunk.example")
        #expect(try plan(user: "a@b").from == "sip:anonymous@trunk.example")
        #expect(try plan { $0.authUser = "branch" }.from == "sip:branch@trunk.example")
        #expect(
            try plan(extra: #"{"srcNum":"+49111"}"#, owns: true) {
                $0.authUser = "branch"
                $0.fromDomain = "example.org"
            }.from == "sip:+49111@example.org")
        #expect(try plan(extra: #"{"srcNum":49111}"#, owns: true).from == "sip:49111@trunk.example")
        #expect(try plan(extra: "no JSON").from == "sip:alice@trunk.example")
    }

    @Test func aCallerIsShownUnderWhatIsTheirsOrAllowed() throws {
        let shown = #"{"srcNum":"+49111"}"#
        #expect(reason(extra: shown) == .callerNotAllowed)
        #expect(reason(extra: shown) { $0.authUser = "+49111" } == nil)
        #expect(reason(extra: shown) { $0.policy.callers = .any } == nil)
        #expect(reason(extra: shown) { $0.policy.callers = .listed(["+49222", "+49111"]) } == nil)
        #expect(reason(extra: shown) { $0.policy.callers = .listed(["+4911", "+49222"]) } == .callerNotAllowed)
        #expect(reason(extra: shown) { $0.policy.callers = .listed(["+491*"]) } == nil)
        #expect(reason(extra: #"{"srcNum":"sip:%2B49111@x"}"#) { $0.policy.callers = .listed(["+49111"]) } == nil)
        #expect(
            reason(extra: #"{"srcNum":"tel:+49-112"}"#) { $0.policy.callers = .listed(["+49111"]) } == .callerNotAllowed
        )
        let call = PhoneCall(
            id: "1", channel: ChannelKey(app: try AppID("app"), name: try ChannelName("c")), user: try Account("+4999"),
            phone: try Account("1"))
        #expect(OutboundCall.shownNumber(call, extra: shown) == "+49111")
        #expect(OutboundCall.shownNumber(call, extra: "") == "+4999")
        #expect(try plan(user: "+4999").from == "sip:anonymous@trunk.example", "an account is no way around the list")
        #expect(try plan(user: "+4999", owns: true).from == "sip:+4999@trunk.example")
        #expect(try plan(user: "+4999") { $0.policy.callers = .any }.from == "sip:+4999@trunk.example")
    }

    @Test func onlyWhatIsAllowedIsDialled() {
        #expect(reason("+49301") == nil)
        #expect(reason("+49301") { $0.isOfOpenApp = true } == .numberNotAllowed)
        #expect(
            reason("+49301") {
                $0.isOfOpenApp = true
                $0.policy.callees = .any
            } == nil)
        #expect(reason("+49301") { $0.policy.callees = .listed([]) } == .numberNotAllowed)
        let german: (inout SIPTrunk) -> Void = { $0.policy.callees = .listed(["+49", "110"]) }
        #expect(reason("+49301", german) == nil)
        #expect(reason("110", german) == nil)
        for callee in [
            "+44301", "49301", "0049301", "+4", "tel:+4-4930", "sip:%2B4430@x", "sip:+4430@+49", "sip:a;+49@x",
        ] {
            #expect(reason(callee, german) == .numberNotAllowed, "\(callee)")
        }
        // The rest of what begins with an allowed prefix.
        for callee in [
            "+49&PJSIP/other/+1900", "sip:+49&PJSIP%2Fother%2F+1900@x", "+49,+1900", "+49=1", "+49/1", "+49x", "110-1",
        ] {
            #expect(reason(callee, german) == .numberNotAllowed, "\(callee)")
        }
        for callee in ["+49&1", "sip:desk%2C1@x", "a/b", "a=b"] {
            #expect(reason(callee) { $0.policy.callees = .any } == .numberNotAllowed, "\(callee)")
        }
        // What is no number must be listed as a whole.
        let desk: (inout SIPTrunk) -> Void = { $0.policy.callees = .listed(["desk"]) }
        #expect(reason("sip:desk@x", desk) == nil && reason("sip:desk5@x", desk) == .numberNotAllowed)
        for callee in ["tel:+4-9301;ext=+44", "sip:%2B4930@x", "sip:+49;x=+44@x"] {
            #expect(reason(callee, german) == nil, "\(callee)")
        }
    }

    @Test func theTrunkSaysWhoCalls() throws {
        #expect(reason(extra: #"{"sip_header:P-Asserted-Identity":"<sip:+49110@x>"}"#) == .invalidHeader)
        let headers = try plan(extra: #"{"sip_header:X-A":"1"}"#) {
            $0.assertedIdentity = "sip:+4930@example.org"
            $0.privacy = "id"
        }.headers
        #expect(
            headers == [
                SIPHeaderField("X-A", "1"), SIPHeaderField("P-Asserted-Identity", "<sip:+4930@example.org>"),
                SIPHeaderField("Privacy", "id"),
            ])
    }

    @Test func headersAreTaken() throws {
        let headers = try plan(extra: #"{"sip_header:X-A":"1","sip_header:X-B":2,"other":"x"}"#).headers
        #expect(headers == [SIPHeaderField("X-A", "1"), SIPHeaderField("X-B", "2")])
    }

    @Test func whatCannotBeSaidIsNotCalled() {
        #expect(reason(extra: #"{"sip_header:Via":"x"}"#) == .invalidHeader)
        #expect(reason(extra: #"{"sip_header:X-A":"a\r\nVia: x"}"#) == .invalidHeader)
        #expect(reason(extra: #"{"sip_header:X-A":{}}"#) == .invalidHeader)
        #expect(reason(extra: #"{"srcNum":"1\r\nVia: x"}"#) == .invalidNumber)
        #expect(reason(extra: #"{"srcNum":"1 2"}"#) == .invalidNumber)
        #expect(reason("tel:none") == .invalidNumber)
        #expect(reason("sip:host") == .invalidNumber)
        #expect(reason() == nil)
    }

    @Test func aTraceIsTheTrunksOrTheCallers() throws {
        #expect(try !plan().isTraced)
        #expect(try plan { $0.trace = true }.isTraced)
        #expect(try plan(extra: #"{"sip_trace":1}"#).isTraced)
    }

    @Test func credentialsNeedBoth() throws {
        #expect(try plan { $0.authUser = "u" }.trunk.credentials == nil)
        let both = try plan {
            $0.authUser = "u"
            $0.secret = "s"
        }
        #expect(both.trunk.credentials == DigestCredentials(username: "u", password: "s"))
    }
}
