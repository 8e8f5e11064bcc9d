import BusProtocol
import SignalingProtocol
import Testing

/// A newer release may write values of optional fields that this one does not know. They are read as absent, and the
/// record around them is kept; a value of the wrong form is an error still.
@Suite struct UnknownValueTests {
    private static let session =
        "3:app1:a7:account4:anna7:version1:57:present1:03:uid1:77:session3:s-17:gateway1:g6:device3:web5:since1:98:detached1:0"
    private static let member =
        "3:app1:a7:channel3:tea7:account4:anna3:uid1:77:version1:57:present1:06:joined1:9"
    private static let key = "3:key2:0f6:digest1:d"
    private static let keyEnd = "6:scopes4:read4:rate1:5"

    private func read<Record: FieldCodable>(_ bytes: String, as type: Record.Type = Record.self) throws -> Record {
        try Record(from: FieldReader(encoded: bytes.utf8))
    }

    @Test func aSessionsRowWithAnUnknownCauseIsKept() throws {
        let row: PresenceMirrorRow = try read(Self.session + "5:cause6:slept!6:reason1:0")
        #expect(row == (try read(Self.session)))
        #expect(row.cause == nil && row.webhookEvent == nil && !row.present && row.version == 5)
    }

    @Test func aMembersRowWithAnUnknownCauseIsKept() throws {
        let row: ChannelMirrorRow = try read(Self.member + "5:cause6:moved!6:reason1:07:creates1:1")
        #expect(row == (try read(Self.member)))
        #expect(row.webhookEvents.isEmpty)
    }

    /// The cause is told without the part that is not known.
    @Test func partsOfACauseThatAreNotKnown() throws {
        let row: MemberMirrorRow = try read(Self.member + "5:cause4:join6:reason5:987657:creates4:half")
        #expect(row.cause == MirrorCause(.join, reason: .unknown))
    }

    @Test func aWayToTellOfMessagesThatIsNotKnownIsNone() throws {
        let settings: AppSettings = try read(
            "11:certificate1:c8:required1:116:streamedMessages4:half15:webhookMessages4:half")
        #expect(settings == AppSettings(certificate: "c", tokenRequired: true))
    }

    @Test func aCodeThatIsNotKnownIsTheUnknownCode() throws {
        let closed: CloseSession = try read("3:app1:a7:account4:anna7:session3:s-16:reason5:98765")
        #expect(closed.reason == .unknown)
        let lost: SessionsReasserted.Lost = try read("7:session3:s-14:code5:98765")
        #expect(lost.code == .unknown)
        let act: PhoneAct = try read("3:act6:failed4:code5:98765")
        #expect(act == .failed(.unknown))
    }

    /// Nil would change what these mean: a key without an app is one of the whole cluster.
    @Test func aMalformedOptionalValueIsAnError() throws {
        #expect(try read(Self.key + Self.keyEnd, as: APIKey.self).app == nil)
        for (field, type): (String, any FieldCodable.Type) in [
            (Self.key + "3:app0:" + Self.keyEnd, APIKey.self), (Self.key + Self.keyEnd + "6:expiry1:x", APIKey.self),
            ("4:list5:users3:app0:6:prefix0:5:after0:5:limit1:1", ListRecords.self),
            (Self.session + "5:cause7:offline6:reason1:x", PresenceMirrorRow.self),
            ("8:sequence1:x", ChannelLeft.self), ("10:sip_status1:x", PhoneRecord.self),
        ] {
            #expect(throws: SignalingError.self, "\(field)") { try type.init(from: FieldReader(encoded: field.utf8)) }
        }
    }

    /// Texts and ids of optional fields have no unknown values: whatever is written is read.
    @Test func optionalTextsAreReadAsTheyAre() throws {
        let record: PhoneRecord = try read("11:sip_call_id1:x10:sip_status3:99910:sip_reason3:new")
        #expect(record == PhoneRecord(sipCallID: "x", status: 999, reason: "new"))
        #expect(try read("8:sequence1:9", as: ChannelLeft.self).sequence == 9)
        #expect(try read("7:records2:[]4:next3:new", as: RecordPage.self).next == "new")
    }

    /// What must be known is an error: another process, of the newer release, understands it.
    @Test func anUnknownValueOfARequiredFieldIsAnError() {
        #expect(throws: SignalingError.self) {
            try read("4:list3:new6:prefix0:5:after0:5:limit1:1", as: ListRecords.self)
        }
        #expect(throws: SignalingError.self) { try read("3:act3:new", as: PhoneAct.self) }
    }
}
