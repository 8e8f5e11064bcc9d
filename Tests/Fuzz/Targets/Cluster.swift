import BusProtocol
import ClusterState
import InvitationLogic
import NIOCore
import SignalingProtocol

@testable import ClusterBus
@testable import InvitationServer
@testable import RedisClient

extension FuzzTarget {
    /// Messages between the cluster's processes through Redis, and the replies of Redis.
    static let cluster = [
        FuzzTarget("fields") { input in
            guard let reader = try? FieldReader(encoded: input.bytes) else { return }
            let again = try? FieldReader(encoded: packed(reader.pairs))
            holds(
                again.map { $0.pairs.elementsEqual(reader.pairs, by: ==) } == true, "fields are the same, packed again")
            let entry = StreamEntry(id: "1-1", fields: [(name: CommandEnvelope.field, value: input.bytes)])
            if let command = ReceivedCommand(entry) {
                holds(command.envelope.deadline.map { $0.milliseconds > 0 } ?? true, "a deadline is a time")
            }
            for check in everyRecord { check(reader) }
            if let actions = try? CallAction.decode(input.bytes) {
                let again = try? CallAction.decode(CallAction.encode(actions))
                holds(again == actions, "actions that are kept are read as they were")
            }
        },
        FuzzTarget("events") { input in
            if let event = try? ChannelEvent(payload: input.bytes) {
                let again = try? ChannelEvent(payload: Array(event.payload.utf8))
                holds(again == event, "a channel event's own text is that event")
            }
            if let event = try? GatewayEvent(payload: input.bytes) {
                let again = try? GatewayEvent(payload: event.payload)
                holds(again == event, "a gateway event's own text is that event")
            }
        },
        FuzzTarget("redis-reply") { input in
            let (how, rest) = input.split
            holds(
                RedisReading(rest.pieces(0), pushes: how & 0x80 != 0)
                    == RedisReading(rest.pieces(how | 1), pushes: how & 0x80 != 0),
                "replies are the same, however they arrive")
        },
    ]

    private static func packed(_ pairs: [(name: String, value: [UInt8])]) -> [UInt8] {
        var writer = FieldWriter()
        for pair in pairs { writer.put(pair.name, pair.value) }
        return writer.encoded
    }

    private static func record<Record: FieldCodable & SendableMetatype>(_ type: Record.Type)
        -> @Sendable (FieldReader) -> Void
    {
        { reader in
            guard let record = try? Record(from: reader) else { return }
            var first = FieldWriter()
            record.write(to: &first)
            guard let again = try? Record(from: FieldReader(pairs: first.pairs)) else {
                fatalError("does not hold: a \(type) can read what it writes")
            }
            var second = FieldWriter()
            again.write(to: &second)
            holds(second.encoded == first.encoded, "a \(type) writes what it read")
        }
    }

    private static let everyRecord: [@Sendable (FieldReader) -> Void] = [
        record(JoinChannel.self), record(LeaveChannel.self), record(ChangeChannelAttributes.self),
        record(CountMembers.self), record(QueryMember.self), record(ListMembers.self), record(ReassertMembers.self),
        record(ChannelJoined.self), record(ChannelLeft.self), record(MemberCount.self), record(MemberStatus.self),
        record(MemberList.self),
        record(CallAct.self), record(FindCall.self), record(FoundCall.self), record(EndSessionCalls.self),
        record(DialPhone.self), record(OrderPhone.self),
        record(PhoneReport.self), record(InviteFromPhone.self), record(PhoneCall.self), record(PhoneRecord.self),
        record(PhoneAct.self), record(PhoneCallStatus.self), record(GetApp.self), record(AppSettings.self),
        record(BeforeHook.self), record(BanAddress.self), record(LiftAddressBan.self),
        record(ListAddressBans.self), record(AddressBanPage.self), record(AddressBan.self),
        record(ApplySettings.self), record(RemoveApp.self), record(ExportSettings.self), record(SettingsAnswer.self),
        record(SettingsRefusal.self), record(GetBannedNetworks.self), record(BannedNetworks.self),
        record(ReportUsage.self), record(AppUse.self),
        record(MediaChannelKey.self), record(JoinMedia.self),
        record(MediaTransportOffer.self),
        record(MediaJoined.self), record(MediaUser.self), record(MediaTransportAnswer.self),
        record(EngineTransport.self), record(MediaCandidate.self), record(LeaveMedia.self), record(MediaLeft.self),
        record(MuteMedia.self), record(MediaMute.self), record(MediaMuted.self), record(ResumeMedia.self),
        record(MediaResumed.self),
        record(RestartMedia.self), record(MediaRestarted.self), record(RenewMedia.self),
        record(MediaNodeRecord.self),
        record(AppLimits.self), record(GetAPIKey.self), record(APIKey.self), record(CreateAPIKey.self),
        record(APIKeyCreated.self), record(RevokeAPIKey.self), record(DrainProcess.self),
        record(GetDatabaseServers.self), record(DatabaseServers.self), record(DatabaseServer.self),
        record(ListRecords.self),
        record(RecordPage.self), record(BanUser.self), record(GetBan.self), record(LiftBan.self), record(UserBan.self),
        record(RestrictMember.self), record(RestrictedMember.self), record(LiftRestriction.self),
        record(ListRestrictions.self), record(RestrictionPage.self), record(ChannelRestriction.self),
        record(RevokeTokens.self), record(GetRevokedTokens.self), record(RevokedTokens.self),
        record(NoteMailboxAct.self),
        record(ChangeUserAttribute.self),
        record(ChangeChannelAttribute.self), record(ListChannelAttributes.self), record(AttributeExpectation.self),
        record(QueryUserStatus.self), record(UserStatus.self), record(SetUserAttribute.self),
        record(GetUserAttribute.self), record(ListUserAttributes.self), record(AttributeValue.self),
        record(AttributeList.self), record(OpenSession.self), record(SessionOpened.self), record(ResumeSession.self),
        record(SessionResumed.self), record(SessionHold.self), record(DetachSession.self), record(CloseSession.self),
        record(DisconnectUser.self), record(ForgetMember.self), record(HeldPlace.self), record(MembersReasserted.self),
        record(ReassertSessions.self), record(HeldSession.self), record(SessionsReasserted.self), record(Actor.self),
        record(ReassertDetachedSessions.self), record(DetachedSession.self), record(DetachedSessionsReasserted.self),
        record(UserKey.self), record(ChannelKey.self),
        record(SessionsReasserted.Held.self), record(SessionsReasserted.Lost.self), record(Member.self),
        record(HeldMember.self), record(Attribute.self), record(AttributeChange.self), record(GatewayLease.self),
        record(PresenceMirrorRow.self), record(MemberMirrorRow.self), record(ChannelMirrorRow.self),
        record(ChannelEndRow.self), record(MirrorCause.self), record(EventRequest.self), record(MessageMirrorRow.self),
        record(CallSnapshot.self), record(CallSnapshot.Phase.self), record(Call.self), record(PhoneLeg.self),
        record(CallLogEntry.self), record(CallDelivery.self), record(CallEvent.self), record(CallTimer.self),
        record(PhoneOrder.self), record(Withdrawal.self), record(TimerFields.self), record(UserCall.self),
        record(BridgeCall.self), record(Dialling.self), record(HeldLine.self),
        record(InstanceRecord.self), record(RedisLayout.self),
    ]
}

/// The replies read from a connection to Redis.
private final class RedisReading: Equatable {
    private var replies: [RedisValue] = []
    private var pushes: [String] = []
    private var failed = false

    static func == (left: RedisReading, right: RedisReading) -> Bool {
        left.replies == right.replies && left.pushes == right.pushes && left.failed == right.failed
    }

    init(_ pieces: [[UInt8]], pushes isPush: Bool) {
        let builder: ReplyBuilder
        if isPush {
            let push = PushBuilder()
            push.onMessage = { [unowned self] in pushes.append("\($0) \($1.readableBytesView.map(\.self))") }
            push.onConfirmation = { [unowned self] in pushes.append("\($0) \($1)") }
            builder = push
        } else {
            builder = ReplyBuilder()
            builder.onReply = { [unowned self] in replies.append($0) }
        }
        let reader = ReplyReader(builder: builder, maxReplyBytes: 1 << 20)
        for piece in pieces {
            do {
                try reader.feed(ByteBuffer(bytes: piece))
            } catch {
                failed = true
                return
            }
        }
    }
}
