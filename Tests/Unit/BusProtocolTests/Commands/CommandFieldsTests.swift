import BusProtocol
import SignalingProtocol
import Testing

/// Every command and every answer survives encoding and decoding, even with names chosen to confuse the codec.
@Suite struct CommandFieldsTests {
    private func comesBack<Value: FieldCodable & Equatable>(
        _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var writer = FieldWriter()
        value.write(to: &writer)
        #expect(try Value(from: FieldReader(pairs: writer.pairs)) == value, sourceLocation: sourceLocation)
        #expect(try Value(from: FieldReader(encoded: writer.encoded)) == value, sourceLocation: sourceLocation)
        // Field names of the command's envelope must not be used by commands.
        let names = writer.pairs.map(\.name)
        #expect(!names.contains { ["op", "id", "from", "ttl"].contains($0) }, sourceLocation: sourceLocation)
        // A missing field is an error, unless it is optional or belongs to a list; it must never cause a crash.
        for index in writer.pairs.indices {
            var fewer = writer.pairs
            fewer.remove(at: index)
            _ = try? Value(from: FieldReader(pairs: fewer))
        }
    }

    /// What commands are about, under the names of a test.
    struct Subjects: CustomTestStringConvertible {
        let account: Account
        let channel: ChannelName
        let attribute: Attribute
        let app: AppID
        let session = SessionID("g1-7")
        let gateway = GatewayID("g1")

        init(_ account: String, _ channel: String) throws {
            self.account = try Account(account)
            self.channel = try ChannelName(channel)
            attribute = Attribute(name: try AttributeName(channel), value: "4:x\n\u{0}")
            app = try AppID("a:1:{}")
        }

        /// Ordinary names, and such as the codec's own marks.
        static var all: [Subjects] {
            get throws {
                try [("anna", "room"), ("a:5:b{}%.", " 3:x 0: "), ("é", "e\u{301}"), ("\"\\", "日 本")].map {
                    try Subjects($0, $1)
                }
            }
        }

        var user: UserKey { UserKey(app: app, account: account) }
        var key: ChannelKey { ChannelKey(app: app, name: channel) }
        var line: Line { Line(user: user, session: session, secret: "0123456789abcdef0123456789abcdef") }
        var actor: Actor { Actor(user: user, uid: .max, session: session) }
        var testDescription: String { "\(account) in \(channel)" }
    }

    @Test(arguments: try Subjects.all) func commandsAboutAppsComeBack(_ its: Subjects) throws {
        try comesBack(GetApp(app: its.app))
        try comesBack(GetAPIKey(id: "0123456789abcdef"))
        try comesBack(RevokeAPIKey(id: "0123456789abcdef"))
        try comesBack(DrainProcess("gateway-1.0123ab"))
        try comesBack(GetDatabaseServers())
        var (one, other) = (DatabaseServer(name: "a", role: .primary), DatabaseServer(name: "b", role: nil))
        (one.version, one.connections, one.standbys) = ("15.4", 3, 1)
        other.problem = "it does not answer"
        try comesBack(DatabaseServers([one, other]))
        try comesBack(DatabaseServers([]))
        for list in ListRecords.List.allCases {
            try comesBack(
                ListRecords(
                    list, app: its.app, channel: its.channel, prefix: its.account.rawValue, after: "a.1", limit: 9))
        }
        try comesBack(ListRecords(.apps, limit: 1000))
        try comesBack(BanUser(user: its.user, until: .max, reason: its.attribute.value))
        try comesBack(GetBan(user: its.user))
        try comesBack(LiftBan(user: its.user))
        let (channel, account) = (ChannelKey(app: its.app, name: its.channel), its.user.account)
        try comesBack(
            RestrictMember(channel: channel, account: account, kind: .mute, until: .max, reason: its.attribute.value))
        try comesBack(LiftRestriction(channel: channel, account: account, kind: .ban))
        try comesBack(ListRestrictions(channel: channel, kind: .ban, after: "a", limit: 7))
        try comesBack(RevokeTokens(user: its.user, until: .max))
        try comesBack(GetRevokedTokens(user: its.user))
        try comesBack(GetRevokedTokens(user: its.user, mintedSeconds: 60))
        try comesBack(NoteMailboxAct(user: its.user))
        try comesBack(NoteMailboxAct(user: its.user, version: .max))
        try comesBack(ApplySettings(its.attribute.value, isDryRun: true))
        try comesBack(ApplySettings("{}", isDryRun: false))
        try comesBack(RemoveApp(try AppID("a:1")))
        try comesBack(ExportSettings(app: its.app))
        try comesBack(ExportSettings(app: nil))
        try comesBack(SettingsAnswer(json: its.attribute.value))
        try comesBack(SettingsAnswer(SettingsRefusal(its.account.rawValue, its.attribute.value, found: "6")))
        try comesBack(SettingsAnswer(SettingsRefusal("the body", "")))
    }

    @Test(arguments: try Subjects.all) func commandsAboutSessionsComeBack(_ its: Subjects) throws {
        let (gateway, user, session) = (its.gateway, its.user, its.session)
        for address in [nil, "2001:db8::1"] {
            var open = OpenSession(gateway: gateway, line: its.line, device: "", push: true, tokenExpiry: 99)
            var resume = ResumeSession(gateway: gateway, line: its.line)
            (open.address, resume.address) = (address, address)
            try comesBack(open)
            try comesBack(resume)
        }
        try comesBack(DetachSession(gateway: gateway, user: user, session: session))
        try comesBack(CloseSession(user: user, session: session, reason: .leaveLogout))
        let held = [nil, its.channel].map {
            var held = HeldSession(line: its.line, uid: 1, device: "d", push: false)
            held.hold = SessionHold(since: RedisTime(milliseconds: 1), claim: 2)
            held.place = HeldPlace(moveNumber: 3, channel: $0, isSettled: $0 == nil)
            held.address = $0 == nil ? nil : "203.0.113.7"
            return held
        }
        try comesBack(ReassertSessions(gateway: gateway, sessions: held))
        try comesBack(ReassertSessions(gateway: gateway, sessions: []))
        let detached = held.map { DetachedSession($0, lostAt: RedisTime(milliseconds: 9)) }
        try comesBack(ReassertDetachedSessions(gateway: gateway, sessions: detached))
        try comesBack(QueryUserStatus(user: user))
        try comesBack(DisconnectUser(user: user))
    }

    @Test(arguments: try Subjects.all) func commandsAboutAttributesComeBack(_ its: Subjects) throws {
        let attribute = its.attribute
        try comesBack(SetUserAttribute(user: its.user, session: its.session, attribute: attribute))
        try comesBack(GetUserAttribute(user: its.user, name: attribute.name))
        try comesBack(ListUserAttributes(user: its.user))
        try comesBack(ListChannelAttributes(channel: its.key))
        for expectation in [AttributeExpectation.any, .absent, .value(""), .value(attribute.value)] {
            for value in [nil, "", attribute.value] {
                try comesBack(
                    ChangeUserAttribute(user: its.user, name: attribute.name, value: value, expectation: expectation))
                var change = ChangeChannelAttribute(
                    channel: its.key, account: its.account, name: attribute.name, value: value,
                    expectation: expectation)
                change.limitPerSecond = 7
                try comesBack(change)
            }
        }
        for change in [AttributeChange.update(attribute), .delete(attribute.name), .clear] {
            try comesBack(
                ChangeChannelAttributes(actor: its.actor, channel: its.channel, change: change, limitPerSecond: 7))
        }
    }

    @Test(arguments: try Subjects.all) func commandsAboutMembersComeBack(_ its: Subjects) throws {
        let (actor, channel, key) = (its.actor, its.channel, its.key)
        try comesBack(JoinChannel(actor: actor, channel: channel, moveNumber: 1))
        try comesBack(LeaveChannel(actor: actor, channel: channel, reason: .leaveDisconnected, moveNumber: 2))
        try comesBack(ForgetMember(actor: actor, channel: channel))
        try comesBack(CountMembers(channel: key))
        try comesBack(QueryMember(channel: key, account: its.account))
        try comesBack(ListMembers(channel: key, limit: 1_000_000))
        let members = [HeldMember(member: Member(account: its.account, uid: 3), session: its.session)]
        try comesBack(ReassertMembers(channel: key, members: members))
    }

    @Test(arguments: try Subjects.all) func commandsAboutCallsComeBack(_ its: Subjects) throws {
        for verb in CallVerb.allCases {
            var act = CallAct(verb: verb, actor: its.actor, channel: its.channel, peer: "+49 30", extra: "{\"a\":1}")
            try comesBack(act)
            act.actor.session = .server
            act.call = "c.1"
            try comesBack(act)
        }
        try comesBack(FindCall(user: its.user, call: "c.1"))
        try comesBack(EndSessionCalls(user: its.user, session: its.session))
    }

    @Test func answersAboutAppsComeBack() throws {
        try comesBack(Done())
        try comesBack(AppSettings(certificate: "", tokenRequired: true))
        var limits = AppLimits()
        for (number, limit) in AppLimits.all.enumerated() { limits[limit] = number + 1 }
        limits.specialChannelsOpen = false
        try comesBack(AppSettings(certificate: "", tokenRequired: true, limits: limits))
        var apiKey = APIKey(
            id: "0123456789abcdef", digest: "d", app: try AppID("a:1"), scopes: APIScopes([.send, .admin]),
            requestsPerSecond: 1, expiry: .max)
        try comesBack(apiKey)
        try comesBack(CreateAPIKey(apiKey, note: "shop"))
        (apiKey.app, apiKey.expiry) = (nil, nil)
        try comesBack(apiKey)
        try comesBack(CreateAPIKey(apiKey, note: ""))
        try comesBack(RevokedTokens(until: 0))
    }

    @Test func answersAboutSessionsComeBack() throws {
        let hold = SessionHold(since: RedisTime(milliseconds: 1), claim: .max)
        try comesBack(SessionOpened(uid: .max, hold: hold))
        try comesBack(SessionOpened(uid: 1, hold: hold, mail: EmptyMailbox(cleared: 0, highest: .max)))
        var resumed = SessionResumed(uid: 1, channel: nil, push: true, tokenExpiry: 99, hold: hold)
        resumed.moveNumber = 7
        try comesBack(resumed)
        resumed.mail = EmptyMailbox(cleared: 0, highest: .max)
        try comesBack(resumed)
        try comesBack(SessionResumed(uid: 1, channel: try ChannelName("room"), push: false))
        try comesBack(SessionsReasserted(held: [], lost: []))
        let lost = [SignalingCode.logoutKicked, nil].map { SessionsReasserted.Lost(session: SessionID("a"), code: $0) }
        try comesBack(SessionsReasserted(held: [.init(session: SessionID("b"), mailbox: .max)], lost: lost))
        try comesBack(DetachedSessionsReasserted(detached: [SessionID("a"), SessionID("b")], gone: [SessionID("c")]))
        try comesBack(UserStatus(online: true))
    }

    @Test func answersAboutChannelsAndCallsComeBack() throws {
        let member = Member(account: try Account("a:1"), uid: .max)
        let attribute = Attribute(name: try AttributeName("n 1"), value: "")
        try comesBack(FoundCall(channel: try ChannelName("c 1"), peer: try Account("+4930")))
        try comesBack(MembersReasserted(unknown: []))
        try comesBack(MembersReasserted(unknown: [SessionID("a"), SessionID("b")]))
        try comesBack(AttributeValue(value: "\u{0}"))
        try comesBack(AttributeList(attributes: []))
        try comesBack(AttributeList(attributes: [attribute, attribute]))
        let members = LatestMembers([member, member])
        try comesBack(ChannelJoined(sequence: .max, id: .max, members: members, attributes: [attribute]))
        try comesBack(ChannelJoined(sequence: 0, id: 0, members: LatestMembers([]), attributes: []))
        try comesBack(ChannelLeft())
        try comesBack(ChannelLeft(sequence: .max))
        try comesBack(MemberCount(count: 12))
        try comesBack(MemberStatus(isMember: false))
        try comesBack(MemberList(total: 5, members: [member]))
    }

    @Test func unknownFieldsAreIgnored() throws {
        var writer = FieldWriter()
        writer.put("new", "field")
        UserStatus(online: true).write(to: &writer)
        #expect(try UserStatus(from: FieldReader(pairs: writer.pairs)) == UserStatus(online: true))
    }

    @Test func whatIdentifiersRefuseIsRefused() throws {
        let reader = FieldReader(pairs: [
            (name: "app", value: Array("app".utf8)), (name: "account", value: Array("a b".utf8)),
        ])
        #expect { try QueryUserStatus(from: reader) } throws: { ($0 as? SignalingError)?.code == .invalidUser }
    }
}
