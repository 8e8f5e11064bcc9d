import BusProtocol
import SignalingProtocol
import Testing

@Suite struct EventPayloadTests {
    private static let bodies = ["", " ", "hi", " a  b ", "a\nb\u{0}", "msg join leave", "日本🙂e\u{301}"]

    private func event(_ kind: ChannelEvent.Kind) throws -> ChannelEvent {
        ChannelEvent(sequence: 41, id: 1_795_247_975_116_084, account: try Account("a:nna"), uid: 7, kind: kind)
    }

    @Test func channelPayloadsAreThese() throws {
        let name = try AttributeName("é 1")
        let expected: [(ChannelEvent.Kind, String)] = [
            (.message(" hi "), "msg  hi "), (.message(""), "msg "), (.joined, "join"), (.left, "leave"),
            (.attributes(.update(Attribute(name: name, value: "v w"))), "attr update 4 é 1 v w"),
            (.attributes(.update(Attribute(name: name, value: ""))), "attr update 4 é 1 "),
            (.attributes(.delete(name)), "attr del 4 é 1"), (.attributes(.clear), "attr clear"),
        ]
        for (kind, rest) in expected {
            let event = try event(kind)
            let payload = "41 1795247975116084 a:nna 7 " + rest
            #expect(event.payload == payload)
            #expect(try ChannelEvent(payload: payload.utf8) == event)
        }
    }

    @Test(arguments: bodies)
    func channelEventsComeBack(body: String) throws {
        for name in ["n", "n 1", " ", "5 x", "é"] {
            let attribute = Attribute(name: try AttributeName(name), value: body)
            for kind in [
                ChannelEvent.Kind.message(body), .attributes(.update(attribute)), .attributes(.delete(attribute.name)),
            ] {
                let read = try ChannelEvent(payload: try event(kind).payload.utf8)
                #expect(read == (try event(kind)))
                #expect(Array(read.payload.utf8) == Array(try event(kind).payload.utf8))
            }
        }
    }

    @Test func gatewayPayloadsAreThese() throws {
        let entry = MailboxEntry(
            version: 42, expiresAt: RedisTime(milliseconds: 99), line: "msg-v2 a b c instant 1  hi ")
        let expected: [(GatewayEvent, String)] = [
            (.reply(CommandID("c1"), .success(Array("3:uid1:7".utf8))), "reply c1 ok 3:uid1:7"),
            (.reply(CommandID("c1"), .success([])), "reply c1 ok "),
            (
                .reply(
                    CommandID("c1"),
                    .failure(SignalingError(.inviteReinvite, SignalingReason(rawValue: "pending"), "one  is pending"))),
                "reply c1 error 701 pending one  is pending"
            ),
            (
                .reply(CommandID("c1"), .failure(SignalingError(.failed, SignalingReason(rawValue: "x"), ""))),
                "reply c1 error 1001 x "
            ),
            (
                .mail([MailDelivery(session: SessionID("s1"), previous: 40, entry: entry)]),
                "mail s1 40 42 99 27 msg-v2 a b c instant 1  hi "
            ),
            (
                .mail([
                    MailDelivery(session: SessionID("s1"), previous: 41, entry: entry),
                    MailDelivery(
                        session: SessionID("s2"), previous: 0,
                        entry: MailboxEntry(version: 7, expiresAt: RedisTime(milliseconds: 8), line: "é\n")),
                ]),
                "mail s1 41 42 99 27 msg-v2 a b c instant 1  hi  s2 0 7 8 3 é\n"
            ),
            (.kicked(SessionID("s1"), .logoutKicked), "kick s1 103"), (.moved(SessionID("s1")), "moved s1"),
            (
                .removed(SessionID("s1"), ChannelRemoval(channel: try ChannelName("a room"), change: 9, moveNumber: 2)),
                "removed s1 2 9 a room"
            ),
        ]
        for (event, payload) in expected {
            #expect(text(event.payload) == payload)
            #expect(try GatewayEvent(payload: payload.utf8) == event)
        }
    }

    @Test func tracesAreOrderedAndToldInLines() throws {
        let user = UserKey(app: try AppID("app"), account: try Account("anna"))
        let order = GatewayEvent.trace(TraceOrder(id: "ab", seconds: 60, user: user))
        #expect(text(order.payload) == "trace ab 60 app anna")
        #expect(try GatewayEvent(payload: order.payload) == order)
        let entry = TraceEntry(time: 1234, gateway: GatewayID("g-0"), text: "call 5: user_logout, 77 bytes")
        #expect(text(entry.payload) == "1234 g-0 call 5: user_logout, 77 bytes")
        #expect(try TraceEntry(payload: entry.payload) == entry)
        for payload in ["", "x g-0 text", "12", "12 "] {
            #expect(throws: SignalingError.self) { try TraceEntry(payload: payload.utf8) }
        }
    }

    @Test func fieldsOfARepliesPayloadMayBeAnyBytes() throws {
        let fields: [UInt8] = Array(0...255)
        let event = GatewayEvent.reply(CommandID("c1"), .success(fields))
        #expect(try GatewayEvent(payload: event.payload) == event)
    }

    @Test(arguments: [
        "", " ", "41", "41 1", "41 1 anna", "41 1 anna 7", "41 1 anna 7 ", "x 1 anna 7 shout", "41 1 anna -1 shout",
        "x 1 anna 7 join",
        "41 1  7 join", "41 1 anna -1 join", "41 1 anna 4294967296 join", "41 1 anna 7 attr",
        "41 1 anna 7 attr set 1 n v",
        "41 1 anna 7 attr update 9 n v", "41 1 anna 7 attr update -1 n v", "41 1 anna 7 attr update 1 nv",
        "41 1 anna 7 attr update 0  v", "41 1 anna 7 attr del 99999999999999999999 n", "9223372036854775808 1 a 7 join",
    ])
    func malformedChannelEventsAreRefused(payload: String) {
        #expect(throws: SignalingError.self) { try ChannelPublication(payload: payload.utf8) }
    }

    @Test(arguments: [
        "", "reply", "reply c1", "reply c1 maybe", "reply c1 error", "reply c1 error x y z", "mail", "mail s1",
        "mail s1 1", "mail s1 1 x 4 line", "mail s1 1 2 line", "mail s1 1 2 5 line", "mail s1 1 2 3 line",
        "mail s1 1 2 -1 line", "mail s1 1 2 4 line s2", "mail s1 1 2 4 line s2 1 2 9 line", "kick s1", "kick s1 x",
        "moved", "moved ", "trace ab 60 app", "trace ab 0 app anna", "trace ab 61 app anna", "trace ab x app anna",
        "trace 0123456789abcdef0123456789abcdef0 5 app anna",
    ])
    func malformedGatewayEventsAreRefused(payload: String) {
        let bytes = Array(payload.utf8)
        #expect(throws: SignalingError.self) { try bytes.withUnsafeBufferPointer(GatewayEvent.decode).get() }
    }

    /// A newer release may publish events that this one does not know.
    @Test(arguments: ["shout", "shout x", "JOIN", "msgs a", "attribute update 1 n v"])
    func anUnknownKindOfAChannelIsSeenByItsPosition(rest: String) throws {
        let payload = "41 1795247975116084 a:nna 7 " + rest
        #expect(
            try ChannelPublication(payload: payload.utf8)
                == .unknown(at: ChannelPosition(sequence: 41, id: 1_795_247_975_116_084)))
        #expect(throws: SignalingError.self) { try ChannelEvent(payload: payload.utf8) }
    }

    @Test(arguments: ["shout", "shout s1", "mails s1 1 2 3 4 line", "kicked s1 103"])
    func anUnknownKindOfAGatewayIsNoError(payload: String) throws {
        let bytes = Array(payload.utf8)
        #expect(try bytes.withUnsafeBufferPointer(GatewayEvent.decode).get() == nil)
        #expect(throws: SignalingError.self) { try GatewayEvent(payload: bytes) }
    }

    @Test func badUTF8IsRefused() {
        for start in ["41 1 anna 7 msg ", "41 1 ", "41 1 anna 7 attr del 1 "] {
            #expect(throws: SignalingError.self) { try ChannelEvent(payload: Array(start.utf8) + [0xC3]) }
        }
        #expect(throws: SignalingError.self) { try GatewayEvent(payload: Array("mail s1 1 2 1 ".utf8) + [0xFF]) }
    }

    @Test func everyCutIsRefusedOrShorter() throws {
        let name = try AttributeName("a b")
        let payload = Array(try event(.attributes(.update(Attribute(name: name, value: "value")))).payload.utf8)
        for length in 0..<payload.count {
            if let cut = try? ChannelEvent(payload: payload[..<length]),
                case .attributes(.update(let attribute)) = cut.kind
            {
                #expect(attribute.name == name && "value".hasPrefix(attribute.value))
            }
        }
    }

    @Test func randomBytesNeverCrash() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? ChannelEvent(payload: bytes)
            _ = try? GatewayEvent(payload: bytes)
        }
    }
}
