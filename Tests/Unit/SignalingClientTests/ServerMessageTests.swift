import SignalingProtocol
import SignalingWire
import Testing

@testable import SignalingClient

@Suite("Parsing of the gateway's frames")
struct ServerMessageTests {
    private func decode(_ bytes: [UInt8]) throws -> ServerMessage { try ServerMessage(decoding: bytes) }

    @Test func answersAsOurGatewayWritesThem() throws {
        let opened = ServerMessage.SessionAnswer(line: "L", uid: 7, push: true, channel: nil, complete: false)
        #expect(try decode(ServerFrame.loginSucceeded(line: "L", uid: 7, push: true)) == .loginAnswer(.success(opened)))
        let error = SignalingError(.loginTokenExpired, .tokenErrorExpired, "over")
        #expect(try decode(ServerFrame.loginFailed(error)) == .loginAnswer(.failure(error)))
        let frame = ServerFrame.lineLoginSucceeded(
            line: "L", uid: 7, push: true, channel: try ChannelName("a b"), complete: true)
        let resumed = ServerMessage.SessionAnswer(line: "L", uid: 7, push: true, channel: "a b", complete: true)
        #expect(try decode(frame) == .resumeAnswer(resumed))
        #expect(try decode(ServerFrame.close(.logoutKicked)) == .close("kick"))
        #expect(try decode(ServerFrame.pong(.number("3"))) == .pong)
        #expect(try decode(ServerFrame.notifyMessage(version: 4)) == .mailboxNotice(version: 4))
        let refused = SignalingError(.messageOther, .rateLimited, "slow down")
        #expect(try decode(ServerFrame.callFailed(id: "5", refused)) == .callAnswer(id: 5, .failure(refused)))
        let count = try decode(ServerFrame.callSucceeded(id: "6", .memberCount(try ChannelName("c"), 9)))
        guard case .callAnswer(6, .success(let json)) = count else { throw refused }
        #expect(json["num"]?.integer == 9)
    }

    @Test func pushesAsOurGatewayWritesThem() throws {
        let line = MessageLine.instant(
            from: try Account("bob"), to: try Account("alice"), ttl: 60, time: 5, content: "a \"b\"\n c ")
        let frame = try decode(
            ServerFrame.pushMessage(MailboxEntry(version: 9, expiresAt: RedisTime(milliseconds: 1), line: line)))
        #expect(frame == .mailboxEntry(version: 9, line: line))
        #expect(
            MessageText(line)?.mailboxEvent
                == .message(InstantMessage(account: "bob", text: "a \"b\"\n c ", time: 5)))
        let empty = MessageLine.instant(from: try Account("bob"), to: try Account("a"), ttl: 1, time: 5, content: "")
        #expect(MessageText(empty)?.content == "")
    }

    @Test func answersWithoutCodesOfOlderGateways() throws {
        func code(_ text: String) throws -> SignalingCode? {
            guard case .loginAnswer(.failure(let error)) = try decode(Array(text.utf8)) else { return nil }
            return error.code
        }
        #expect(try code(#"["login_ret",["TokenErrorExpired","{}"]]"#) == .loginTokenExpired)
        #expect(try code(#"["login_ret",["TokenErrorX","{}"]]"#) == .loginTokenWrong)
        #expect(try code(#"["login_ret",["","{\"result\":\"failed\",\"reason\":\"kick\"}"]]"#) == .loginKicked)
    }

    @Test(arguments: ["", "{}", "[]", #"["pong"]"#, #"["notify",["recvmsg","x"]]"#, #"["call2-ret",[1,null,"{}"]]"#])
    func otherShapesAreErrors(text: String) {
        #expect(throws: SignalingError.self) { try decode(Array(text.utf8)) }
    }

    @Test func laterFramesAreIgnored() throws {
        #expect(try decode(Array(#"["news",1]"#.utf8)) == .unknown)
        #expect(try decode(Array(#"["notify",["news",1]]"#.utf8)) == .unknown)
    }

    @Test func failedInvitationsCarryTheirCode() throws {
        let content = #"{"channel":"r","peer":"bob","extra":"{\"code\":704}","peeruid":0}"#
        guard case .call(let call)? = MessageText("msg-v2 bob a f voip_invite_failed 5 \(content)")?.mailboxEvent else {
            Issue.record("no call")
            return
        }
        #expect(call.kind == .failed(.inviteTimeout))
    }
}
