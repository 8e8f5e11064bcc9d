import SignalingProtocol

extension FunctionTable {
    static let calls = CallVerb.allCases.map { verb in
        FunctionDeclaration(
            name: verb.rawValue, summary: summary(verb),
            arguments: [
                .channel(
                    "channelName", isNew: verb == .invite, "the channel that the call is about; it is joined separately"
                ),
                .account("peer", isNew: verb == .invite, peer(verb)),
                .optional(
                    "extra",
                    verb == .invite ? .jsonText(bytes: Limits.messageBytes) : .text(bytes: Limits.messageBytes),
                    extra(verb)),
            ],
            refusals: [actRate, busy] + refusals(verb), calls: [verb.rawValue.replacing("_", with: "-")])
    }

    private static let busy = Refusal(
        .failed, "busy", "others kept changing the call at the same moment, and nothing was done; try again")

    private static func summary(_ verb: CallVerb) -> String {
        switch verb {
        case .invite: "Invites a user, or a telephone, to a channel."
        case .acknowledge: "Informs the caller that the invitation has arrived and rings."
        case .accept: "Accepts an invitation."
        case .refuse: "Refuses an invitation, which ends the call."
        case .end: "Ends a call, or withdraws an invitation; allowed for both parties."
        case .message: "Sends DTMF digits to the other party."
        }
    }

    private static func peer(_ verb: CallVerb) -> String {
        switch verb {
        case .invite: "the callee: an account, or a number of the app's trunk"
        case .acknowledge, .accept, .refuse: "the caller"
        case .end, .message: "the other party"
        }
    }

    private static func extra(_ verb: CallVerb) -> String {
        switch verb {
        case .invite:
            "passed on; the system reads `_require_peer_online` (1: fail at once when the callee is offline), "
                + "`_timeout` "
                + "(seconds until it fails, 0...\(Limits.invitationTimeout.upperBound), default "
                + "\(Limits.invitationTimeoutDefault)), `srcNum` and `sip_header:NAME` (for telephones)"
        case .message:
            #"`{"msgtype":"dtmf","msgdata":DIGITS}`, DIGITS of `0-9*#A-D,`; other message types are passed on"#
        case .acknowledge, .accept, .refuse, .end: "passed on"
        }
    }

    private static func refusals(_ verb: CallVerb) -> [Refusal] {
        let unknownCall = Refusal(.failed, "unknown_call", "there is no such call")
        let ended = Refusal(.failed, "call_ended", "the call has ended")
        return switch verb {
        case .invite:
            [
                Refusal(.wrongParameter, "self_invite", "the caller and the peer are the same user"),
                Refusal(.inviteReinvite, "reinvite", "a call of the two in that channel is pending"),
                Refusal(
                    .inviteOther, "too_many_calls",
                    "one of the users already has \(Limits.callsPerUser) calls, or the "
                        + "telephones' bound"),
                Refusal(.inviteOther, "too_many_new_calls", "the user called too many telephones in this minute"),
                Refusal(.inviteOther, "app_calls", "the app has too many phone calls at once"),
                Refusal(.inviteOther, "app_new_calls", "the app called too many telephones in this minute"),
            ]
        case .acknowledge, .end: [unknownCall]
        case .accept: [unknownCall, ended]
        case .refuse: [unknownCall, Refusal(.failed, "wrong_state", "the call was already accepted; end it instead")]
        case .message:
            [
                unknownCall, ended, Refusal(.failed, "wrong_state", "the telephone is not being called yet"),
                Refusal(.wrongParameter, "invalid_dtmf", "a digit is one of `0-9*#A-D`, a comma is a pause"),
            ]
        }
    }
}
