import SignalingProtocol
import Testing

@testable import SignalingWire

@Suite struct ServerFrameTests {
    private static let line = "s1.secret.app.anna"

    private func check(_ fixture: String, _ frame: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let golden = try Fixture.bytes("server/\(fixture).json")
        #expect(text(frame) == text(golden), sourceLocation: sourceLocation)
        #expect(frame == golden, sourceLocation: sourceLocation)
    }

    private func list(_ members: [Member]) -> MemberListText { MemberListText(LatestMembers(members)) }

    @Test func sessionFrames() throws {
        try check("login-ok", ServerFrame.loginSucceeded(line: Self.line, uid: .max, push: false))
        try check("login-ok-push", ServerFrame.loginSucceeded(line: Self.line, uid: 7, push: true))
        let expired = SignalingError(.loginTokenExpired, .tokenErrorExpired, "the token has expired")
        try check("login-failed", ServerFrame.loginFailed(expired))
        let room = try ChannelName("room 1")
        try check(
            "line-login-ok",
            ServerFrame.lineLoginSucceeded(line: Self.line, uid: 7, push: false, channel: room, complete: false))
        try check("pong", ServerFrame.pong(.number("0")))
        try check("close-kick", ServerFrame.close(.logoutKicked))
    }

    @Test func mailboxFrames() throws {
        try check("notify-msg", ServerFrame.notifyMessage(version: 1_795_247_864_380))
        let line = "msg-v2 anna bob v1:E:60 instant 1 say \"hi\"\n"
        try check(
            "recvmsg",
            ServerFrame.pushMessage(
                MailboxEntry(version: 1_795_247_864_380, expiresAt: RedisTime(milliseconds: 1), line: line)))
        try check("reply-mailbox-empty", ServerFrame.callSucceeded(id: "1", .mailbox(cleared: 0, entries: [])))
        let entries = ["hi", ""].enumerated().map { index, content in
            MailboxEntry(
                version: Int64(42 + index), expiresAt: RedisTime(milliseconds: 1),
                line: "msg-v2 anna bob v1:E:60 instant 1 \(content)")
        }
        try check("reply-mailbox", ServerFrame.callSucceeded(id: "1", .mailbox(cleared: 41, entries: entries)))
    }

    @Test func replies() throws {
        let bob = try Account("bob")
        let anna = Member(account: try Account("anna"), uid: 1)
        let room = try ChannelName("room 1")
        let age = try AttributeName("age")
        let quoted = Attribute(name: try AttributeName("q"), value: "\"\\")
        let topic = Attribute(name: try AttributeName("topic"), value: "日本")
        let members = [Member(account: bob, uid: 2), anna]
        try check("reply-done", ServerFrame.callSucceeded(id: "0", .done))
        try check(
            "reply-failed", ServerFrame.callFailed(id: "3", SignalingError(.messageOther, .rateLimited, "too many")))
        try check("reply-status", ServerFrame.callSucceeded(id: "2", .userStatus(bob, online: true)))
        try check("reply-status-offline", ServerFrame.callSucceeded(id: "2", .userStatus(bob, online: false)))
        try check("reply-attribute", ServerFrame.callSucceeded(id: "2", .attribute(bob, age, value: "")))
        let all = [Attribute(name: age, value: "30"), quoted]
        try check("reply-attributes", ServerFrame.callSucceeded(id: "2", .attributes(bob, all)))
        try check("reply-attributes-none", ServerFrame.callSucceeded(id: "2", .attributes(bob, [])))
        try check(
            "reply-joined",
            ServerFrame.callSucceeded(
                id: "2", .joined(id: 1_700_000_000_000_000, members: list(members), attributes: [topic])))
        try check(
            "reply-joined-alone",
            ServerFrame.callSucceeded(id: "2", .joined(id: 5, members: list([anna]), attributes: [])))
        try check("reply-count", ServerFrame.callSucceeded(id: "2", .memberCount(room, 3)))
        try check("reply-isin", ServerFrame.callSucceeded(id: "2", .membership(room, bob, isMember: false)))
        try check(
            "reply-members", ServerFrame.callSucceeded(id: "2", .members(total: 1000, [Member(account: bob, uid: 2)])))
    }

    /// Compares the JSON of an answer that is written by hand with that of the JSON writer.
    private func expectSameJSON(_ body: ReplyBody, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let frame = try JSONValue.parse(ServerFrame.callSucceeded(id: "7", body))
        #expect(
            frame
                == .array([
                    .string("call2-ret"), .array([.number("7"), .string(""), .string(body.json.compactText)]),
                ]),
            sourceLocation: sourceLocation)
    }

    /// The JSON of a join's answer is written by hand; it must equal that of the JSON writer.
    @Test(arguments: ["anna", "\"", "\\", "\\\"n", "é", "日本", "\",1],[\"", "a:1:b"])
    func anyMemberIsListed(account: String) throws {
        let members = list([
            Member(account: try Account(account), uid: .max), Member(account: try Account("bob"), uid: 0),
        ])
        let attributes = [Attribute(name: try AttributeName("q \""), value: "\n\\\"")]
        let body = ReplyBody.joined(id: .max, members: members, attributes: attributes)
        try expectSameJSON(body)
    }

    /// Attributes' JSON, too, is written by hand.
    @Test(arguments: [
        "", "age", "\"", "\\", "\\\"\n\r\t", "\u{1}\u{1F}\u{7F}", "日本🙂", String(repeating: "1234567\"", count: 9),
    ])
    func anyAttributeIsListed(text: String) throws {
        let attributes = [
            Attribute(name: try AttributeName(#"q "\é"#), value: "first"),
            Attribute(name: try AttributeName("r"), value: text),
        ]
        for all in [attributes, [attributes[1]], []] {
            for body in [
                ReplyBody.attributes(try Account(#"a"\é"#), all),
                ReplyBody.joined(id: 5, members: list([]), attributes: all),
            ] {
                try expectSameJSON(body)
            }
        }
    }

    /// So is the JSON of mailbox answers.
    @Test(arguments: [
        "hi", "\"", "\\", "\\\"\n\r\t", "\u{0}\u{1F}\u{7F}", "日本🙂", String(repeating: "1234567\"", count: 9),
    ])
    func anyEntryIsListed(line: String) throws {
        let entries = [
            MailboxEntry(version: .max, expiresAt: RedisTime(milliseconds: 1), line: line),
            MailboxEntry(version: 0, expiresAt: RedisTime(milliseconds: 1), line: ""),
        ]
        for body in [ReplyBody.mailbox(cleared: 5, entries: entries), .done] {
            try expectSameJSON(body)
        }
        let pushed = JSONValue.array([.number("\(Int64.max)"), .string(line)]).compactText
        #expect(
            try JSONValue.parse(ServerFrame.pushMessage(entries[0]))
                == .array([.string("notify"), .array([.string("recvmsg"), .string(pushed)])]))
    }

    @Test func channelEvents() throws {
        let room = try ChannelName("room 1")
        let name = try AttributeName("k 1")
        let id: Int64 = 1_795_247_975_116_084
        func frame(_ kind: ChannelEvent.Kind, shownAs shown: Int64? = nil) throws -> [UInt8] {
            let event = ChannelEvent(sequence: 41, id: id, account: try Account("anna"), uid: 7, kind: kind)
            return ServerFrame.channelEvent(event, channel: room, id: shown ?? id)
        }
        try check("channel-msg", frame(.message("say \"hi\"\n\\ 🙂")))
        try check("channel-msg-raised", frame(.message(""), shownAs: id + 15))
        try check("channel-join", frame(.joined))
        try check("channel-leave", frame(.left))
        try check("channel-attr-update", frame(.attributes(.update(Attribute(name: name, value: "v")))))
        try check("channel-attr-del", frame(.attributes(.delete(name))))
        try check("channel-attr-clear", frame(.attributes(.clear)))
    }

    /// Frames remain arrays of two elements with valid JSON inside, whatever names and bodies contain.
    @Test(arguments: [
        "\"", "\\", "\\\"", "\"],[\"", "\u{0}", "\n", "\u{7F}", "é", "e\u{301}", "🙂", "\u{2028}", "</script>", "{}",
        "\\u0041",
    ])
    func hostileTextsComeBack(hostile: String) throws {
        let body = "a\(hostile)b"
        let event = ChannelEvent(sequence: 1, id: 2, account: try Account("anna"), uid: 7, kind: .message(body))
        let channelText =
            hostile.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ? body : "room"
        let frame = try JSONValue.parse(
            ServerFrame.channelEvent(event, channel: try ChannelName(channelText), id: 2))
        guard case .array(let outer) = frame, outer.count == 2, case .array(let parts) = outer[1], parts.count == 4,
            let line = parts[3].string
        else {
            Issue.record("not a channel2 frame")
            return
        }
        let fields = line.split(separator: " ", maxSplits: 6, omittingEmptySubsequences: false)
        #expect(fields.count == 7 && fields[0] == "msg-v2" && fields[4] == "channel_msg")
        let content = try JSONValue.parse(fields[6].utf8)
        #expect(content["msg"] == .string(body) && content["channel"] == .string(channelText))

        let entry = MailboxEntry(
            version: 1, expiresAt: RedisTime(milliseconds: 1), line: "msg-v2 a b c instant 1 \(body)")
        let reply = try JSONValue.parse(ServerFrame.callSucceeded(id: "1", .mailbox(cleared: 0, entries: [entry])))
        guard case .array(let answer) = reply, case .array(let results) = answer[1], let data = results[2].string else {
            Issue.record("not a reply")
            return
        }
        #expect(try JSONValue.parse(data.utf8)["msgs"] == .array([.array([.number("1"), .string(entry.line)])]))
    }
}
