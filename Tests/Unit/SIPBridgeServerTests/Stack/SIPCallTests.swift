import SignalingProtocol
import Testing

@testable import SIPBridgeLogic
@testable import SIPBridgeServer

@Suite("Calls between two stacks", .timeLimit(.minutes(1)))
struct SIPCallTests {
    private static let offer = SIPBody(type: "application/sdp", bytes: Array("v=0\r\n".utf8))
    private static let answer = SIPBody(type: "application/sdp", bytes: Array("v=1\r\n".utf8))

    @SIPThread
    private static func dialog(
        _ caller: StackUnderTest, to callee: StackUnderTest, transport: String = ""
    ) throws -> SIPDialog {
        let target = "sip:+15550100@127.0.0.1:\(callee.stack.port)\(transport)"
        return try caller.stack.makeDialog(
            target: target, to: "sip:+15550100@example.test", from: "sip:alice@example.test",
            displayName: "Alice \"A\" \\")
    }

    /// Expects the INVITE of ``dialog(_:to:transport:)`` with ``offer``.
    private static func expectOffer(_ message: SIPMessage) {
        #expect(message.method == "INVITE")
        #expect(message.requestURI?.user == "+15550100")
        #expect(message.from.displayName.contains("Alice"))
        #expect(message.from.user == "alice")
        #expect(message.contentType == "application/sdp")
        #expect(message.body == offer.bytes)
    }

    @Test("INVITE, 180, 200, ACK, then BYE from the other side", arguments: ["", ";transport=tcp"])
    func call(transport: String) async throws {
        try await withTwoStacks { caller, callee in
            let outgoing = try Self.dialog(caller, to: callee, transport: transport)
            let header = SIPHeaderField("X-Ticket", "17")
            let (invite, events) = try caller.invite(outgoing, headers: [header], body: Self.offer)

            let arrived = await callee.requests.next()
            Self.expectOffer(arrived.message)
            #expect(arrived.message.header("x-ticket") == "17")
            #expect(arrived.message.sequence == invite.sequence)
            #expect(arrived.message.source.transport == (transport.isEmpty ? .udp : .tcp))
            let contact = "sip:alice@127.0.0.1:\(caller.stack.port)\(transport)"
            #expect(arrived.message.contactURI == contact)

            try arrived.reply(100)
            try arrived.reply(180)
            let incoming = try arrived.acceptDialog()
            #expect(incoming.target == contact)
            try arrived.reply(200, body: Self.answer)
            let accepted = try await events.final()
            #expect(accepted.status == 200)
            #expect(accepted.body == Self.answer.bytes)
            try outgoing.establish(with: accepted)
            try outgoing.acknowledge(accepted)

            let acknowledgement = await callee.requests.next()
            #expect(acknowledgement.message.method == "ACK")
            #expect(acknowledgement.message.sequence == invite.sequence)
            #expect(incoming.matches(acknowledgement.message))

            let (_, ending) = try callee.invite(incoming, "BYE")
            let bye = await caller.requests.next()
            #expect(bye.message.method == "BYE")
            #expect(outgoing.matches(bye.message))
            #expect(outgoing.acceptsSequence(of: bye.message))
            try bye.reply(200)
            #expect(try await ending.final().status == 200)
        }
    }

    @Test("Each request in a dialog has the next CSeq and reuses the connection")
    func sequence() async throws {
        try await withTwoStacks { caller, callee in
            let outgoing = try Self.dialog(caller, to: callee, transport: ";transport=tcp")
            let (invite, events) = try caller.invite(outgoing)
            let arrived = await callee.requests.next()
            _ = try arrived.acceptDialog()
            try arrived.reply(200)
            let accepted = try await events.final()
            try outgoing.establish(with: accepted)
            try outgoing.acknowledge(accepted)
            _ = await callee.requests.next()
            let (info, answers) = try caller.invite(outgoing, "INFO")
            #expect(info.sequence == invite.sequence + 1)
            let received = await callee.requests.next()
            #expect(received.message.source == arrived.message.source)
            #expect(received.message.callID == arrived.message.callID)
            try received.reply(415)
            #expect(try await answers.final().status == 415)
        }
    }

    @Test("CANCEL waits for the first provisional response; 487 ends the INVITE")
    func cancel() async throws {
        try await withTwoStacks { caller, callee in
            let (invite, events) = try caller.invite(try Self.dialog(caller, to: callee))
            invite.cancel()
            let arrived = await callee.requests.next()
            let cancelled = Mailbox<Bool>()
            arrived.onCancel = { cancelled.put(true) }
            #expect(cancelled.isEmpty)
            try arrived.reply(180)
            #expect(await cancelled.next())
            try arrived.reply(487)
            #expect(try await events.final().status == 487)
        }
    }

    @Test("A 200 that crosses the CANCEL is reported")
    func crossing() async throws {
        try await withTwoStacks { caller, callee in
            let (invite, events) = try caller.invite(try Self.dialog(caller, to: callee))
            let arrived = await callee.requests.next()
            try arrived.reply(180)
            _ = await events.next()
            // The answer is sent while the CANCEL is on its way.
            invite.cancel()
            try arrived.reply(200)
            #expect(try await events.final().status == 200)
        }
    }

    @Test("A 486 is acknowledged by the stack itself")
    func busy() async throws {
        try await withTwoStacks { caller, callee in
            let (_, events) = try caller.invite(try Self.dialog(caller, to: callee))
            let arrived = await callee.requests.next()
            try arrived.reply(486)
            let final = try await events.final()
            #expect(final.status == 486)
            #expect(final.reason == "Busy Here")
            #expect(callee.requests.isEmpty)
        }
    }

    @Test("Each retransmitted 2xx is reported and can be acknowledged; a second fork gets its own ACK and BYE")
    func copies() async throws {
        try await withTwoStacks { caller, callee in
            let outgoing = try Self.dialog(caller, to: callee)
            let (_, events) = try caller.invite(outgoing)
            let arrived = await callee.requests.next()
            let bytes = try arrived.reply(200)
            let accepted = try await events.final()
            try outgoing.establish(with: accepted)
            try outgoing.acknowledge(accepted)
            #expect(await callee.requests.next().message.method == "ACK")

            try arrived.resend(bytes)
            let copy = await caller.strays.next()
            #expect(copy.to.tag == accepted.to.tag)
            try outgoing.establish(with: copy)
            try outgoing.acknowledge(copy)
            #expect(await callee.requests.next().message.to.tag == accepted.to.tag)

            let tag = try #require(accepted.to.tag)
            let other = String(decoding: bytes, as: UTF8.self).replacing(tag, with: "another-fork")
            try arrived.resend(Array(other.utf8))
            let stray = await caller.strays.next()
            #expect(stray.to.tag == "another-fork")
            #expect(!outgoing.matches(stray))
            let fork = try outgoing.fork(for: stray)
            try fork.acknowledge(stray)
            #expect(await callee.requests.next().message.to.tag == "another-fork")
            let (_, ending) = try caller.invite(fork, "BYE")
            let bye = await callee.requests.next()
            #expect(bye.message.to.tag == "another-fork")
            try bye.reply(200)
            #expect(try await ending.final().status == 200)
            // The first fork's dialog is unaffected.
            let (_, info) = try caller.invite(outgoing, "INFO")
            let received = await callee.requests.next()
            #expect(received.message.to.tag == tag)
            try received.reply(200)
            _ = try await info.final()
        }
    }

    @Test("A request fails when nobody listens, and when the stack is closed")
    func failures() async throws {
        try await withTwoStacks { caller, callee in
            let port = callee.stack.port
            callee.stack.close()
            let target = "sip:1@127.0.0.1:\(port);transport=tcp"
            let refused = try caller.stack.makeDialog(target: target, to: "sip:1@a.test", from: "sip:2@a.test")
            // Whether the refusal comes at once or a moment later depends on the operating system.
            do {
                let (_, events) = try caller.invite(refused)
                _ = try await events.final()
                Issue.record("a final response from nowhere")
            } catch let error as SIPError {
                #expect(["send INVITE", "await a response"].contains(error.act))
            }

            let silent = try caller.stack.makeDialog(
                target: "sip:1@127.0.0.1:\(port)", to: "sip:1@a.test", from: "sip:2@a.test")
            let (_, pending) = try caller.invite(silent)
            caller.stack.close()
            guard case .failed = await pending.next() else {
                Issue.record("a final response from nowhere")
                return
            }
            #expect(throws: SIPError.self) { _ = try caller.invite(silent) }
        }
    }

    @Test("Header fields that contain a line end are refused")
    func injection() async throws {
        try await withTwoStacks { caller, callee in
            let dialog = try Self.dialog(caller, to: callee)
            for field in [
                SIPHeaderField("X-A", "1\r\nX-B: 2"), SIPHeaderField("X A", "1"), SIPHeaderField("", "1"),
                SIPHeaderField("X-A", "\0"),
            ] {
                #expect(throws: SIPError.self) { _ = try caller.invite(dialog, headers: [field]) }
            }
            #expect(throws: SIPError.self) {
                _ = try caller.stack.makeDialog(target: "sip:1>@a\r\n", to: "sip:1@a", from: "sip:2@a")
            }
        }
    }

    @Test("Only a traced call's messages are recorded")
    func trace() async throws {
        try await withTwoStacks { caller, callee in
            let (quiet, loud) = (try Self.dialog(caller, to: callee), try Self.dialog(caller, to: callee))
            caller.stack.traced = [loud.callID]
            for dialog in [quiet, loud] {
                let (_, events) = try caller.invite(dialog, "INFO")
                try await callee.requests.next().reply(481)
                _ = try await events.final()
            }
            let (sent, received) = (await caller.traces.next(), await caller.traces.next())
            #expect(sent.isSent && sent.callID == loud.callID && sent.text.hasPrefix("INFO sip:"))
            #expect(!received.isSent && received.text.hasPrefix("SIP/2.0 481 "))
            #expect(caller.traces.isEmpty)
        }
    }
}
