import SignalingProtocol
import Testing

@testable import SIPBridgeLogic
@testable import SIPBridgeServer

@Suite("Digest authentication between two stacks", .timeLimit(.minutes(1)))
struct SIPDigestTests {
    @Test("A challenged INVITE is sent again in its dialog with the next CSeq", arguments: ["right", "wrong"])
    func retry(password: String) async throws {
        try await withTwoStacks { caller, callee in
            var server = DigestServer(realm: "trunk", secret: SecureRandom.hex(bytes: 16))
            var client = DigestClient(credentials: DigestCredentials(username: "bridge", password: password))
            let dialog = try caller.stack.makeDialog(
                target: "sip:100@127.0.0.1:\(callee.stack.port)", to: "sip:100@a.test", from: "sip:bridge@a.test")
            @SIPThread func send() throws -> (SIPClientRequest, Mailbox<SIPResponseEvent>) {
                let headers = client.headers(
                    method: "INVITE", uri: dialog.target, cnonce: SecureRandom.hex(bytes: 8))
                return try caller.invite(dialog, headers: headers)
            }
            let (first, challenged) = try send()
            let asked = await callee.requests.next()
            #expect(server.check(asked.message, now: SIPLoop.now) { _ in "right" } == .missing)
            try asked.reply(401, headers: server.challenges(now: SIPLoop.now, salt: SecureRandom.hex(bytes: 8)))
            let retries = client.challenged(by: try await challenged.final())
            #expect(retries)

            let (second, events) = try send()
            #expect(second.sequence == first.sequence + 1)
            let again = await callee.requests.next()
            #expect(again.message.callID == asked.message.callID)
            #expect(again.message.from.tag == asked.message.from.tag)
            let verdict = server.check(again.message, now: SIPLoop.now) { $0 == "bridge" ? "right" : nil }
            if password == "right" {
                #expect(verdict == .accepted(username: "bridge"))
                try again.reply(200)
                #expect(try await events.final().status == 200)
            } else {
                #expect(verdict == .refused)
                try again.reply(401, headers: server.challenges(now: SIPLoop.now, salt: SecureRandom.hex(bytes: 8)))
                let goesOn = client.challenged(by: try await events.final())
                #expect(!goesOn)
            }
        }
    }
}
