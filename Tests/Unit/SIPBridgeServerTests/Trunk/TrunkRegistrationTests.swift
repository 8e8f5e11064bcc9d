import SignalingProtocol
import Testing

@testable import SIPBridgeLogic
@testable import SIPBridgeServer

@Suite("Registration at a registrar", .timeLimit(.minutes(1)))
struct TrunkRegistrationTests {
    @Test("A challenged REGISTER is sent again with the same Call-ID; stopping removes the binding")
    func life() async throws {
        try await withTwoStacks { bridge, registrar in
            let target = TrunkRegistrationTarget(
                registrar: "sip:127.0.0.1:\(registrar.stack.port)", account: "sip:u@a.test", contactUser: "u",
                transport: .udp, credentials: DigestCredentials(username: "u", password: "p"))
            let statuses = Mailbox<TrunkRegistration.Status>()
            let registration = TrunkRegistration(stack: bridge.stack, target: target) { statuses.put($0) }
            var server = DigestServer(realm: "r", secret: SecureRandom.hex(bytes: 8))
            // A bridge refuses REGISTER, so this registrar screens requests by its own rules.
            let seen = Mailbox<SIPMessage>()
            registrar.stack.screen = { message in
                seen.put(message)
                switch server.check(message, now: SIPLoop.now, password: { $0 == "u" ? "p" : nil }) {
                case .accepted:
                    let expires = message.header("Expires") ?? ""
                    let contact = SIPHeaderField("Contact", "\(message.header("Contact") ?? "");expires=\(expires)")
                    return .reply(status: 200, reason: "OK", headers: expires == "0" ? [] : [contact])
                case .missing, .stale, .refused:
                    let challenges = server.challenges(now: SIPLoop.now, salt: SecureRandom.hex(bytes: 8))
                    return .reply(status: 401, reason: "Unauthorized", headers: challenges)
                }
            }
            registration.start()
            #expect(await statuses.next() == .registered(for: .seconds(3_600)))
            let (first, second) = (await seen.next(), await seen.next())
            #expect(first.requestURI?.text == "sip:127.0.0.1:\(registrar.stack.port)")
            #expect(first.callID == second.callID)
            #expect(second.sequence == first.sequence + 1)
            #expect(first.contactURI == "sip:u@127.0.0.1:\(bridge.stack.port)")
            registration.stop()
            #expect(await statuses.next() == .ended)
            #expect(await seen.next().header("Expires") == "0")
        }
    }

    @Test("A refusal is reported with its status")
    func refusal() async throws {
        try await withTwoStacks { bridge, registrar in
            let target = TrunkRegistrationTarget(
                registrar: "sip:127.0.0.1:\(registrar.stack.port);transport=tcp", account: "sip:u@a.test",
                contactUser: "u", transport: .tcp, credentials: nil)
            let statuses = Mailbox<TrunkRegistration.Status>()
            let registration = TrunkRegistration(stack: bridge.stack, target: target) { statuses.put($0) }
            registration.start()
            #expect(await statuses.next() == .lost(status: 405, again: .seconds(300)))
            registration.stop()
            #expect(await statuses.next() == .ended)
        }
    }
}
