import BusProtocol
import SignalingProtocol
import Testing

@Suite struct WebhookEventTests {
    private let actor: Actor
    private let room: ChannelKey
    private let app: AppID

    init() throws {
        app = try AppID("a")
        actor = Actor(
            user: UserKey(app: app, account: try Account("anna")), uid: 7, session: SessionID("s"))
        room = ChannelKey(app: app, name: try ChannelName("the \"room\""))
    }

    private func membership(_ cause: MirrorCause?, in channel: ChannelKey) -> ChannelMirrorRow {
        var row = MemberMirrorRow(
            of: Member(account: actor.user.account, uid: 7), in: channel, version: 5_000_001, present: true,
            joinedAt: RedisTime(milliseconds: 5))
        row.cause = cause
        return .member(row)
    }

    @Test func textOfEachSubject() throws {
        var row = PresenceMirrorRow(
            of: actor, version: 5_000_001, gateway: GatewayID("g"), device: "", since: RedisTime(milliseconds: 5))
        row.cause = MirrorCause(.offline, reason: .leaveLogout)
        #expect(
            row.webhookEvent?.json
                == #"{"id":"offline-5000001-96bcca83b55aa4bb","kind":"offline","at":5000,"account":"anna","uid":7,"reason":603}"#
        )
        let events = membership(MirrorCause(.join, createsChannel: true), in: room).webhookEvents
        #expect(events.map(\.kind) == [.channelCreated, .join])
        #expect(
            events.last?.json
                == #"{"id":"\#(events[1].id)","kind":"join","at":5000,"account":"anna","uid":7,"channel":"the \"room\"","reason":0}"#
        )
        #expect(
            events.first?.json
                == #"{"id":"\#(events[0].id)","kind":"channel_created","at":5000,"channel":"the \"room\""}"#)
        var call = WebhookCall(
            id: "c", state: .ended, channel: room.name, caller: "anna", callee: "+49", direction: "outbound")
        call.endCode = 0
        let event = WebhookEvent(.call, in: app, at: 5_000_003, .call(call))
        #expect(
            event.json
                == #"{"id":"\#(event.id)","kind":"call","at":5000,"call":"c","state":"ended","channel":"the \"room\"","caller":"anna","callee":"+49","direction":"outbound","reason":0}"#
        )
    }

    private func message(to receiver: WebhookMessage.Receiver, number: Int64 = 8, text: String?) -> WebhookEvent {
        let message = WebhookMessage(from: actor.user.account, to: receiver, number: number, size: 12, text: text)
        return MessageMirrorRow(message, in: app, sent: 5_000_001).webhookEvent
    }

    @Test func textOfMessages() throws {
        let bob = try Account("bob")
        let toUser = message(to: .user(bob, isOnline: false), text: nil)
        #expect(
            toUser.json
                == #"{"id":"\#(toUser.id)","kind":"message","at":5000,"account":"anna","to":"bob","online":false,"message":8,"size":12}"#
        )
        #expect(toUser.id.hasPrefix("message-5000001-"))
        let toChannel = message(to: .channel(room.name), text: "a \"word\"\u{0}")
        #expect(
            toChannel.json
                == #"{"id":"\#(toChannel.id)","kind":"message","at":5000,"account":"anna","channel":"the \"room\"","message":8,"size":12,"text":"a \"word\"\u0000"}"#
        )
    }

    @Test func idsOfTheRequestThatHasCausedAnEvent() throws {
        let request = EventRequest(CommandCause(key: "k", request: #"a"b"#, trace: "4bf9"))
        let ids = #","requestId":"a\"b","traceId":"4bf9"}"#
        var row = PresenceMirrorRow(
            of: actor, version: 5, gateway: GatewayID("g"), device: "", since: RedisTime(milliseconds: 5))
        row.cause = MirrorCause(.offline, reason: .leaveOther, for: request)
        #expect(row.webhookEvent?.json.hasSuffix(#""reason":600"# + ids) == true)
        let left = membership(MirrorCause(.leave, reason: .leaveKicked, for: request), in: room).webhookEvents
        #expect(left.map { $0.json.hasSuffix(#""reason":601"# + ids) } == [true])
        let message = WebhookMessage(
            from: actor.user.account, to: .channel(room.name), number: 8, size: 3, text: "tea")
        let sent = MessageMirrorRow(message, in: app, sent: 5, stream: .withText, for: request)
        #expect(sent.webhookEvent.json.hasSuffix(#""text":"tea""# + ids))
        #expect(sent.webhookEvent.withoutText.json.hasSuffix(#""size":3"# + ids))
        // It is the same event as without the ids, and streams of events do not tell them.
        #expect(sent.webhookEvent.id == MessageMirrorRow(message, in: app, sent: 5).webhookEvent.id)
        #expect(sent.streamedEvent?.streamed.contains("requestId") == false)
    }

    @Test func onlyRequestsOfTheServerAPIHaveIDs() {
        #expect(EventRequest(CommandCause()) == nil)
        #expect(EventRequest(CommandCause(key: "k", trace: "t")) == nil)
        let event = WebhookEvent(
            .channelDestroyed, in: app, at: 1, .channel(room.name), for: EventRequest(CommandCause(request: "r")))
        #expect(event.json.hasSuffix(#","requestId":"r"}"#))
    }

    /// A gateway that repeats a message for a client that has come back may not know any more whether the receiver was
    /// there, and one that has learnt of a new setting tells the text; it is the same event.
    @Test func theIdOfAMessageIsThatOfTheMessage() throws {
        let (bob, eve) = (try Account("bob"), try Account("eve"))
        let id = message(to: .user(bob, isOnline: false), text: nil).id
        #expect(id == message(to: .user(bob, isOnline: true), text: "the text").id)
        let others = [
            message(to: .user(bob, isOnline: false), number: 9, text: nil),
            message(to: .user(eve, isOnline: false), text: nil),
            message(to: .channel(try ChannelName("bob")), text: nil),
        ]
        #expect(Set(others.map(\.id) + [id]).count == 4)
    }

    @Test func messagesAreToldOnlyWhereTheyAreNamed() throws {
        #expect(WebhookKind.standard == Set(WebhookKind.allCases.filter { $0 != .message }))
    }

    @Test func onlyRowsWithACauseAreTold() throws {
        let row = PresenceMirrorRow(
            of: actor, version: 5, gateway: GatewayID("g"), device: "", since: RedisTime(milliseconds: 5))
        #expect(row.webhookEvent == nil)
        #expect(membership(nil, in: room).webhookEvents.isEmpty)
    }

    @Test func membersOfSpecialChannelsAreNotTold() throws {
        let special = ChannelKey(app: app, name: ChannelName(.channelEvent))
        #expect(membership(MirrorCause(.join, createsChannel: true), in: special).webhookEvents.isEmpty)
    }

    @Test func creationComesBeforeTheJoin() {
        let events = membership(MirrorCause(.join, createsChannel: true), in: room).webhookEvents
        #expect(events[0].microseconds < events[1].microseconds)
    }

    @Test func idsTellSubjectsApart() throws {
        let ids = try ["anna", "bob"].map { name in
            WebhookEvent(.online, in: app, at: 1, .user(try Account(name), uid: 0, reason: .success)).id
        }
        #expect(Set(ids).count == 2)
    }
}
