internal import BusProtocol
internal import SignalingProtocol

/// What Redis holds of a channel's member, in the hash ``ChannelKeys/memberInfo``: the line `UID SESSION`, which
/// channel_members.lua writes.
struct MemberInfo: Equatable {
    /// The account's numeric id.
    var uid: UInt32
    /// The session by which the account is a member.
    var session: SessionID

    /// Parses the line; nil when it has another form.
    init?(text: String) {
        let info = try? TextFields.read(text, what: "a member") { fields throws(SignalingError) in
            (try fields.number(UInt32.self), SessionID(try fields.remainderText()))
        }
        guard let (uid, session) = info else { return nil }
        self.uid = uid
        self.session = session
    }
}
