import BusProtocol
import SignalingProtocol
import Testing

/// The exact fields of the commands between the invitation service and the sip-bridges, encoded and decoded.
@Suite struct PhoneCommandsTests {
    private let call: PhoneCall
    private let bridge = BridgeID("bridge-1-abc")

    init() throws {
        call = PhoneCall(
            id: "g1-7", channel: ChannelKey(app: try AppID("app"), name: try ChannelName("a room")),
            user: try Account("alice"), phone: try Account("+49301234"))
    }

    private static let callFields = ["call=g1-7", "app=app", "channel=a room", "user=alice", "phone=+49301234"]

    private func expect<Value: FieldCodable & Equatable>(
        _ value: Value, _ fields: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var writer = FieldWriter()
        value.write(to: &writer)
        #expect(writer.pairs.map { "\($0.name)=\(text($0.value))" } == fields, sourceLocation: sourceLocation)
        #expect(try Value(from: FieldReader(pairs: writer.pairs)) == value, sourceLocation: sourceLocation)
        #expect(try Value(from: FieldReader(encoded: writer.encoded)) == value, sourceLocation: sourceLocation)
        for index in writer.pairs.indices {
            var fewer = writer.pairs
            fewer.remove(at: index)
            // A missing field is an error unless it is optional; it must never cause a crash.
            _ = try? Value(from: FieldReader(pairs: fewer))
        }
    }

    @Test func dialling() throws {
        try expect(
            DialPhone(call: call, extra: #"{"srcNum":"1"}"#), Self.callFields + [#"extra={"srcNum":"1"}"#])
        #expect(DialPhone.service == .sipBridge && DialPhone.operation == "phone.dial")
    }

    @Test(arguments: [
        (PhoneOrderAct.ringing, "ringing"), (.accept, "accept"), (.refuse, "refuse"), (.end, "end"), (.fail, "fail"),
        (.message, "message"),
    ])
    func orders(act: PhoneOrderAct, word: String) throws {
        try expect(OrderPhone(call: call, act: act, extra: "x"), Self.callFields + ["act=\(word)", "extra=x"])
        #expect(OrderPhone.service == .sipBridge && OrderPhone.operation == "phone.order")
    }

    @Test(arguments: [
        (PhoneAct.claimed, ["act=claimed"]), (.ringing, ["act=ringing"]), (.accepted, ["act=accepted"]),
        (.refused, ["act=refused"]), (.message, ["act=message"]),
        (.failed(.inviteTimeout), ["act=failed", "code=704"]), (.ended(.success), ["act=ended", "code=0"]),
    ])
    func reports(act: PhoneAct, fields: [String]) throws {
        let record = PhoneRecord(sipCallID: "id@host", status: 486, reason: "Busy Here")
        try expect(
            PhoneReport(call: call, bridge: bridge, act: act, extra: "{}", record: record),
            Self.callFields + ["bridge=bridge-1-abc"] + fields
                + ["extra={}", "sip_call_id=id@host", "sip_status=486", "sip_reason=Busy Here"])
        try expect(
            PhoneReport(call: call, bridge: bridge, act: act, extra: "", record: PhoneRecord()),
            Self.callFields + ["bridge=bridge-1-abc"] + fields + ["extra="])
        #expect(PhoneReport.service == .invitation && PhoneReport.operation == "call.phone")
    }

    @Test func invitations() throws {
        try expect(
            InviteFromPhone(
                call: call, bridge: bridge, extra: "{}", ring: 30_000, record: PhoneRecord(sipCallID: "c")),
            Self.callFields + ["bridge=bridge-1-abc", "extra={}", "ring=30000", "sip_call_id=c"])
        try expect(
            InviteFromPhone(call: call, bridge: bridge, extra: "", ring: nil, record: PhoneRecord()),
            Self.callFields + ["bridge=bridge-1-abc", "extra="])
        #expect(InviteFromPhone.service == .invitation && InviteFromPhone.operation == "call.phone-invite")
    }

    @Test func callStatus() throws {
        try expect(PhoneCallStatus(continues: true), ["stands=1"])
        try expect(PhoneCallStatus(continues: false), ["stands=0"])
    }

    /// What a report means is refused when it is not known; a code that is not known is told as such.
    @Test func unknownWords() throws {
        func read(_ name: String, _ value: String) throws -> PhoneReport {
            var writer = FieldWriter()
            PhoneReport(call: call, bridge: bridge, act: .failed(.inviteOther), extra: "", record: PhoneRecord())
                .write(to: &writer)
            let pairs = writer.pairs.map { $0.name == name ? (name: name, value: Array(value.utf8)) : $0 }
            return try PhoneReport(from: FieldReader(pairs: pairs))
        }
        #expect(throws: SignalingError.self) { try read("act", "sing") }
        #expect(try read("code", "9").act == .failed(.unknown))
    }
}
