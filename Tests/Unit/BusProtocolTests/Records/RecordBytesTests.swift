import BusProtocol
import SignalingProtocol
import Testing

/// Fixes the encoded bytes of every command, answer and record, because other releases must be able to read them.
@Suite struct RecordBytesTests {
    private let user: UserKey
    private let channel: ChannelName
    private let room: ChannelKey
    private let session = SessionID("s-1")
    private let gateway = GatewayID("g")
    private let bridge = BridgeID("g")
    private let line: Line
    private let hold = SessionHold(since: RedisTime(milliseconds: 1), claim: 2)
    private let actor: Actor
    private let member: Member
    private let attribute: Attribute
    private let call: PhoneCall

    init() throws {
        let app = try AppID("a")
        user = UserKey(app: app, account: try Account("anna"))
        channel = try ChannelName("tea")
        room = ChannelKey(app: app, name: channel)
        line = Line(user: user, session: session, secret: "0123456789abcdef0123456789abcdef")
        actor = Actor(user: user, uid: 7, session: session)
        member = Member(account: user.account, uid: 7)
        attribute = Attribute(name: try AttributeName("n"), value: "v")
        call = PhoneCall(id: "c", channel: room, user: user.account, phone: try Account("+49"))
    }

    private func expect<Record: FieldCodable & Equatable>(
        _ record: Record, _ bytes: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var writer = FieldWriter()
        record.write(to: &writer)
        #expect(text(writer.encoded) == bytes, sourceLocation: sourceLocation)
        #expect(try Record(from: FieldReader(encoded: bytes.utf8)) == record, sourceLocation: sourceLocation)
        // Unknown fields, as a newer release may add, are ignored.
        let newer = "4:new?1:x" + bytes + "3:new1:y"
        #expect(try Record(from: FieldReader(encoded: newer.utf8)) == record, sourceLocation: sourceLocation)
    }

    @Test func serverAPI() throws {
        try expect(GetAPIKey(id: "0f"), "3:key2:0f")
        let key = APIKey(
            id: "0f", digest: "d", app: user.app, scopes: APIScopes([.read, .admin]), requestsPerSecond: 5, expiry: 9)
        let keyBytes = "3:key2:0f6:digest1:d3:app1:a6:scopes10:read admin4:rate1:56:expiry1:9"
        try expect(key, keyBytes)
        try expect(CreateAPIKey(key, note: "n"), keyBytes + "4:note1:n")
        try expect(APIKeyCreated(record: "{}"), "6:record2:{}")
        try expect(RevokeAPIKey(id: "0f"), "3:key2:0f")
        try expect(DrainProcess("g1.0f"), "7:process5:g1.0f")
        try expect(NoteMailboxAct(user: user, version: 7), "3:app1:a7:account4:anna7:version1:7")
        try expect(
            DatabaseServer(name: "h:1", role: .standby),
            "4:name3:h:14:role7:standby7:version0:11:connections1:04:most1:08:standbys1:03:lag1:0")
        try expect(
            ChangeUserAttribute(user: user, name: attribute.name, value: "v", expectation: .value("w")),
            "3:app1:a7:account4:anna4:name1:n5:value1:v2:if5:value8:expected1:w")
        try expect(
            ChangeUserAttribute(user: user, name: attribute.name, value: nil, expectation: .absent),
            "3:app1:a7:account4:anna4:name1:n2:if6:absent")
    }

    @Test func settings() throws {
        try expect(ApplySettings("{}", isDryRun: true), "8:settings2:{}6:dryRun1:1")
        try expect(ExportSettings(app: user.app), "3:app1:a")
        try expect(ExportSettings(app: nil), "")
        try expect(RemoveApp(user.app), "3:app1:a")
        try expect(SettingsAnswer(json: "[]"), "4:json2:[]")
        try expect(
            SettingsAnswer(SettingsRefusal("apps.a", "must be", found: "0")),
            "4:json0:5:place6:apps.a4:rule7:must be5:found1:0")
    }

    @Test func apps() throws {
        try expect(GetApp(app: user.app), "3:app1:a")
        try expect(
            AppSettings(certificate: "c", tokenRequired: true),
            "11:certificate1:c8:required1:14:rate2:6011:channelRate3:20013:actsPerSecond2:5025:attributeChangesPerSecond2:2032:channelAttributeChangesPerSecond3:20014:mailboxEntries5:1000012:mailboxBytes8:1677721611:specialOpen1:1"
        )
    }

    @Test func anAppsHookFollowsItsLimits() throws {
        let url = try #require(WebhookURL("https://a/b"))
        var hook = BeforeHook(url: url, secret: "s", points: HookPoints([.send, .login]))
        hook.failsOpen = true
        hook.refusesBusy = true
        hook.allowed = .loopback
        let without = AppSettings(certificate: "c", tokenRequired: true)
        var with = without
        with.hook = hook
        var (writer, plain) = (FieldWriter(), FieldWriter())
        with.write(to: &writer)
        without.write(to: &plain)
        let added =
            "4:hook11:https://a/b10:hookSecret1:s10:hookPoints10:login send12:hookDeadline4:1000"
            + "8:hookOpen1:112:hookRequests2:6411:hookPrivate1:012:hookLoopback1:18:hookBusy1:1"
        #expect(writer.encoded == plain.encoded + Array(added.utf8))
        #expect(try AppSettings(from: FieldReader(encoded: writer.encoded)) == with)
        #expect(try AppSettings(from: FieldReader(encoded: plain.encoded)) == without)
    }

    @Test func whetherMessagesAreToldComesLast() throws {
        let without = AppSettings(certificate: "c", tokenRequired: true)
        for (detail, added) in [
            (MessageDetail.withoutText, "15:webhookMessages12:without-text"),
            (.withText, "15:webhookMessages9:with-text"),
        ] {
            var with = without
            with.webhookMessages = detail
            var (writer, plain) = (FieldWriter(), FieldWriter())
            with.write(to: &writer)
            without.write(to: &plain)
            #expect(writer.encoded == plain.encoded + Array(added.utf8))
            #expect(try AppSettings(from: FieldReader(encoded: writer.encoded)) == with)
        }
    }

    @Test func rowsOfMessages() throws {
        var message = WebhookMessage(
            from: user.account, to: .user(try Account("bob"), isOnline: true), number: 5, size: 12, text: nil)
        try expect(
            MessageMirrorRow(message, in: user.app, sent: 9),
            "3:app1:a4:sent1:94:from4:anna2:to3:bob6:online1:16:number1:54:size2:12")
        message.receiver = .channel(channel)
        message.text = "hello\n world"
        try expect(
            MessageMirrorRow(message, in: user.app, sent: 9),
            "3:app1:a4:sent1:94:from4:anna7:channel3:tea6:number1:54:size2:124:text12:hello\n world")
        message.text = nil
        try expect(
            MessageMirrorRow(message, in: user.app, sent: 9, stream: .withoutText),
            "3:app1:a4:sent1:94:from4:anna7:channel3:tea6:number1:54:size2:126:stream12:without-text")
        try expect(
            MessageMirrorRow(
                message, in: user.app, sent: 9, stream: .withoutText,
                for: EventRequest(CommandCause(key: "k", request: "r-1", trace: "t"))),
            "3:app1:a4:sent1:94:from4:anna7:channel3:tea6:number1:54:size2:126:stream12:without-text7:request3:r-15:trace1:t"
        )
    }

    @Test func limitsThatAnOlderReleaseDoesNotWriteHaveTheirDefaults() throws {
        let older = try AppSettings(
            from: FieldReader(encoded: "11:certificate1:c8:required1:113:actsPerSecond1:7".utf8))
        var limits = AppLimits()
        limits.actsPerSecond = 7
        #expect(older == AppSettings(certificate: "c", tokenRequired: true, limits: limits))
    }

    @Test func rowsOfTheMirrors() throws {
        var row = PresenceMirrorRow(
            of: actor, version: 5, gateway: gateway, device: "web", since: RedisTime(milliseconds: 9))
        row.detached = true
        try expect(
            row,
            "3:app1:a7:account4:anna7:version1:57:present1:13:uid1:77:session3:s-17:gateway1:g6:device3:web5:since1:98:detached1:1"
        )
        try expect(
            MemberMirrorRow(of: member, in: room, version: 5, present: false, joinedAt: RedisTime(milliseconds: 9)),
            "3:app1:a7:channel3:tea7:account4:anna3:uid1:77:version1:57:present1:06:joined1:9")
    }

    @Test func rowsOfTheMirrorsThatWebhooksTell() throws {
        var row = PresenceMirrorRow(
            of: actor, version: 5, gateway: gateway, device: "web", since: RedisTime(milliseconds: 9))
        row.cause = MirrorCause(.offline, reason: .leaveLogout)
        try expect(
            row,
            "3:app1:a7:account4:anna7:version1:57:present1:13:uid1:77:session3:s-17:gateway1:g6:device3:web5:since1:98:detached1:05:cause7:offline6:reason3:603"
        )
        var membership = MemberMirrorRow(
            of: member, in: room, version: 5, present: true, joinedAt: RedisTime(milliseconds: 9))
        membership.cause = MirrorCause(.join, createsChannel: true)
        try expect(
            ChannelMirrorRow.member(membership),
            "3:app1:a7:channel3:tea7:account4:anna3:uid1:77:version1:57:present1:16:joined1:95:cause4:join6:reason1:07:creates1:1"
        )
        try expect(
            ChannelMirrorRow.end(ChannelEndRow(room, ended: 5)), "3:app1:a7:channel3:tea5:ended1:5")
        membership.cause = nil
        try expect(
            ChannelMirrorRow.member(membership),
            "3:app1:a7:channel3:tea7:account4:anna3:uid1:77:version1:57:present1:16:joined1:9")
    }

    /// The ids come last: the release before ignores them, and its rows, above, have none.
    @Test func rowsOfTheMirrorsThatARequestHasCaused() throws {
        let request = EventRequest(CommandCause(key: "k", request: "r-1", trace: "t"))
        var row = PresenceMirrorRow(
            of: actor, version: 5, gateway: gateway, device: "web", since: RedisTime(milliseconds: 9))
        row.cause = MirrorCause(.offline, reason: .leaveOther, for: request)
        try expect(
            row,
            "3:app1:a7:account4:anna7:version1:57:present1:13:uid1:77:session3:s-17:gateway1:g6:device3:web5:since1:98:detached1:05:cause7:offline6:reason3:6007:request3:r-15:trace1:t"
        )
        var membership = MemberMirrorRow(
            of: member, in: room, version: 5, present: false, joinedAt: RedisTime(milliseconds: 9))
        membership.cause = MirrorCause(
            .leave, reason: .leaveKicked, for: EventRequest(CommandCause(request: "r-1")))
        try expect(
            ChannelMirrorRow.member(membership),
            "3:app1:a7:channel3:tea7:account4:anna3:uid1:77:version1:57:present1:06:joined1:95:cause5:leave6:reason3:6017:request3:r-1"
        )
    }

    /// The address comes last: the release before ignores it.
    @Test func sessionsWithAddresses() throws {
        var open = OpenSession(gateway: gateway, line: line, device: "ios", push: true)
        open.address = "203.0.113.7"
        try expect(
            open,
            "7:gateway1:g4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna6:device3:ios4:push1:17:expires1:07:address11:203.0.113.7"
        )
        var resume = ResumeSession(gateway: gateway, line: line)
        resume.address = "::1"
        try expect(
            resume, "7:gateway1:g4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna7:address3:::1")
    }

    @Test func sessions() throws {
        try expect(
            OpenSession(gateway: gateway, line: line, device: "ios", push: true, tokenExpiry: 99),
            "7:gateway1:g4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna6:device3:ios4:push1:17:expires2:99")
        try expect(SessionOpened(uid: 7, hold: hold), "3:uid1:75:since1:15:claim1:2")
        try expect(
            SessionOpened(uid: 7, hold: hold, mail: EmptyMailbox(cleared: 3, highest: 5)),
            "3:uid1:75:since1:15:claim1:24:mail3:3 5")
        try expect(
            ResumeSession(gateway: gateway, line: line),
            "7:gateway1:g4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna")
        var resumed = SessionResumed(uid: 7, channel: channel, push: false, tokenExpiry: 99, hold: hold)
        resumed.moveNumber = 3
        try expect(
            resumed,
            "3:uid1:77:channel3:tea4:push1:07:expires2:995:since1:15:claim1:24:turn1:3")
        resumed.mail = EmptyMailbox(cleared: 3, highest: 5)
        try expect(
            resumed, "3:uid1:77:channel3:tea4:push1:07:expires2:995:since1:15:claim1:24:turn1:34:mail3:3 5")
        try expect(
            SessionResumed(uid: 7, channel: nil, push: true),
            "3:uid1:74:push1:17:expires1:05:since1:05:claim1:04:turn1:0")
        try expect(
            DetachSession(gateway: gateway, user: user, session: session),
            "7:gateway1:g3:app1:a7:account4:anna7:session3:s-1")
        try expect(
            DetachSession(gateway: gateway, user: user, session: session, claim: 2),
            "7:gateway1:g3:app1:a7:account4:anna7:session3:s-15:claim1:2")
        try expect(
            CloseSession(user: user, session: session, reason: .leaveLogout),
            "3:app1:a7:account4:anna7:session3:s-16:reason3:603")
    }

    @Test func users() throws {
        try expect(DisconnectUser(user: user), "3:app1:a7:account4:anna")
        try expect(QueryUserStatus(user: user), "3:app1:a7:account4:anna")
        try expect(UserStatus(online: true), "6:online1:1")
        try expect(
            SetUserAttribute(user: user, session: session, attribute: attribute),
            "3:app1:a7:account4:anna7:session3:s-14:name1:n5:value1:v")
        try expect(GetUserAttribute(user: user, name: attribute.name), "3:app1:a7:account4:anna4:name1:n")
        try expect(AttributeValue(value: "v"), "5:value1:v")
        try expect(ListUserAttributes(user: user), "3:app1:a7:account4:anna")
        try expect(AttributeList(attributes: [attribute]), "10:attributes24:0:19:4:name1:n5:value1:v")
    }

    @Test func channels() throws {
        try expect(
            JoinChannel(actor: actor, channel: channel, moveNumber: 3),
            "3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea4:turn1:3")
        try expect(
            ChannelJoined(sequence: 1, id: 2, members: LatestMembers([member]), attributes: [attribute]),
            "8:sequence1:15:event1:26:latest7:7 anna\n10:attributes24:0:19:4:name1:n5:value1:v")
        try expect(ChannelLeft(sequence: 9), "8:sequence1:9")
        // As in releases that did not tell the sequence.
        try expect(ChannelLeft(), "")
        try expect(
            LeaveChannel(actor: actor, channel: channel, reason: .leaveByUser, moveNumber: 4),
            "3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea6:reason3:6024:turn1:4")
        try expect(
            ChangeChannelAttributes(actor: actor, channel: channel, change: .update(attribute), limitPerSecond: 5),
            "3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea6:change6:update4:name1:n5:value1:v5:limit1:5")
        try expect(
            ChangeChannelAttributes(actor: actor, channel: channel, change: .delete(attribute.name), limitPerSecond: 5),
            "3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea6:change3:del4:name1:n5:limit1:5")
        try expect(
            ChangeChannelAttributes(actor: actor, channel: channel, change: .clear, limitPerSecond: 5),
            "3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea6:change5:clear5:limit1:5")
        try expect(CountMembers(channel: room), "3:app1:a7:channel3:tea")
        try expect(MemberCount(count: 12), "5:count2:12")
        try expect(QueryMember(channel: room, account: user.account), "3:app1:a7:channel3:tea7:account4:anna")
        try expect(MemberStatus(isMember: false), "6:member1:0")
        try expect(ListMembers(channel: room, limit: 200), "3:app1:a7:channel3:tea5:limit3:200")
        try expect(
            MemberList(total: 5, members: [member, member]),
            "5:total1:57:members56:0:23:7:account4:anna3:uid1:70:23:7:account4:anna3:uid1:7")
    }

    @Test func reassertion() throws {
        var held = HeldSession(line: line, uid: 7, device: "ios", push: true, tokenExpiry: 99)
        held.hold = hold
        held.place = HeldPlace(moveNumber: 3, channel: channel, isSettled: true)
        try expect(
            ReassertSessions(gateway: gateway, sessions: [held]),
            "7:gateway1:g8:sessions156:0:150:4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna3:uid1:76:device3:ios4:push1:17:expires2:995:since1:15:claim1:24:turn1:37:channel3:tea7:settled1:1"
        )
        try expect(
            SessionsReasserted(
                held: [.init(session: session, mailbox: 9)],
                lost: [.init(session: session, code: .logoutKicked), .init(session: session, code: nil)]),
            "4:held31:0:26:7:session3:s-17:mailbox1:94:lost58:0:25:7:session3:s-14:code3:1030:23:7:session3:s-14:code1:0"
        )
        try expect(
            ReassertMembers(channel: room, members: [HeldMember(member: member, session: session)]),
            "3:app1:a7:channel3:tea7:members42:0:37:7:account4:anna3:uid1:77:session3:s-1")
        try expect(
            ReassertDetachedSessions(
                gateway: gateway, sessions: [DetachedSession(held, lostAt: RedisTime(milliseconds: 1234))]),
            "7:gateway1:g8:sessions168:0:162:4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna3:uid1:76:device3:ios4:push1:17:expires2:995:since1:15:claim1:24:turn1:37:channel3:tea7:settled1:14:lost4:1234"
        )
        try expect(
            DetachedSessionsReasserted(detached: [session], gone: [session]), "8:detached3:s-14:gone3:s-1")
        try expect(MembersReasserted(unknown: [session, session]), "7:unknown3:s-17:unknown3:s-1")
        try expect(
            ForgetMember(actor: actor, channel: channel), "3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea")
        held.address = "::1"
        try expect(
            ReassertSessions(gateway: gateway, sessions: [held]),
            "7:gateway1:g8:sessions170:0:164:4:line43:s-1.0123456789abcdef0123456789abcdef.a.anna3:uid1:76:device3:ios4:push1:17:expires2:995:since1:15:claim1:24:turn1:37:channel3:tea7:settled1:17:address3:::1"
        )
    }

    @Test func calls() throws {
        try expect(
            CallAct(verb: .invite, actor: actor, channel: channel, peer: "bob", extra: "{}"),
            "4:verb11:voip_invite3:app1:a7:account4:anna3:uid1:77:session3:s-17:channel3:tea4:peer3:bob5:extra2:{}")
        var own = CallAct(verb: .end, actor: actor, channel: channel, peer: "bob", extra: "")
        own.actor.session = .server
        own.call = "c"
        try expect(
            own,
            "4:verb15:voip_invite_bye3:app1:a7:account4:anna3:uid1:77:session0:7:channel3:tea4:peer3:bob5:extra0:"
                + "4:call1:c")
        try expect(FindCall(user: user, call: "c"), "3:app1:a7:account4:anna4:call1:c")
        try expect(EndSessionCalls(user: user, session: session), "3:app1:a7:account4:anna7:session3:s-1")
    }

    @Test func telephones() throws {
        try expect(
            DialPhone(call: call, extra: "{}"), "4:call1:c3:app1:a7:channel3:tea4:user4:anna5:phone3:+495:extra2:{}")
        try expect(
            OrderPhone(call: call, act: .accept, extra: "{}"),
            "4:call1:c3:app1:a7:channel3:tea4:user4:anna5:phone3:+493:act6:accept5:extra2:{}")
        try expect(
            PhoneReport(
                call: call, bridge: bridge, act: .ended(.success), extra: "",
                record: PhoneRecord(sipCallID: "i", status: 486, reason: "Busy")),
            "4:call1:c3:app1:a7:channel3:tea4:user4:anna5:phone3:+496:bridge1:g3:act5:ended4:code1:05:extra0:11:sip_call_id1:i10:sip_status3:48610:sip_reason4:Busy"
        )
        try expect(
            InviteFromPhone(call: call, bridge: bridge, extra: "", ring: 9, record: PhoneRecord()),
            "4:call1:c3:app1:a7:channel3:tea4:user4:anna5:phone3:+496:bridge1:g5:extra0:4:ring1:9")
        try expect(
            InviteFromPhone(call: call, bridge: bridge, extra: "", ring: nil, record: PhoneRecord(sipCallID: "i")),
            "4:call1:c3:app1:a7:channel3:tea4:user4:anna5:phone3:+496:bridge1:g5:extra0:11:sip_call_id1:i")
        try expect(PhoneCallStatus(continues: true), "6:stands1:1")
    }
}
