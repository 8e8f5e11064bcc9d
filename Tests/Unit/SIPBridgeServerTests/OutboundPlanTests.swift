import PostgresStore
import SIPBridgeLogic
import SignalingProtocol
import Testing

@testable import SIPBridgeServer

@Suite("What an INVITE says")
struct OutboundPlanTests {
    private func plan(
        _ callee: String = "+4930123", extra: String = "", user: String = "alice",
        _ change: (inout SIPTrunk) -> Void = { _ in }
    ) throws -> OutboundPlan {
        let app = try AppID("app")
        var trunk = SIPTrunk(app: app, host: "trunk.example")
        change(&trunk)
        let call = PhoneCall(
            id: "1", channel: ChannelKey(app: app, name: try ChannelName("c")), user: try Account(user),
            phone: try Account(callee))
        return try OutboundPlan(call, extra: extra, trunk: trunk)
    }

    private func reason(_ callee: String = "1", extra: String = "") -> DialogReason? {
        do {
            _ = try plan(callee, extra: extra)
            return nil
        } catch let problem as OutboundPlan.Problem {
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
            try plan(extra: #"{"srcNum":"+49111"}"#) {
                $0.authUser = "branch"
                $0.fromDomain = "example.org"
            }.from == "sip:+49111@example.org")
        #expect(try plan(extra: #"{"srcNum":49111}"#).from == "sip:49111@trunk.example")
        #expect(try plan(extra: "no JSON").from == "sip:alice@trunk.example")
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
        #expect(try plan { $0.authUser = "u" }.credentials == nil)
        let both = try plan {
            $0.authUser = "u"
            $0.secret = "s"
        }
        #expect(both.credentials == DigestCredentials(username: "u", password: "s"))
    }
}
