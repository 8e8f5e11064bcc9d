internal import BusProtocol
internal import SIPBridgeLogic
internal import SignalingProtocol
internal import SignalingWire

/// The JSON text in `extra`: what users are told about a telephone's acts, and what they send to a telephone.
enum CallExtraJSON {
    /// The text of a report: `{"code":700,"reason":"rejected","sip_status":404,"sip_reason":"Not Found"}`.
    static func text(_ act: PhoneAct, _ note: DialogNote) -> String {
        var members: [JSONMember] = []
        switch act {
        case .failed(let code), .ended(let code):
            members.append(JSONMember("code", code.rawValue))
        case .claimed, .ringing, .accepted, .refused, .message:
            break
        }
        if let reason = note.reason { members.append(JSONMember("reason", reason.rawValue)) }
        if let status = note.status { members.append(JSONMember("sip_status", status)) }
        if let phrase = note.phrase, !phrase.isEmpty { members.append(JSONMember("sip_reason", phrase)) }
        return JSONValue.object(members).compactText
    }

    /// The text for a digit that the telephone has sent.
    static func digit(_ digit: Character) -> String {
        JSONValue.object([
            JSONMember("msgtype", "dtmf"), JSONMember("msgdata", String(digit)),
        ]).compactText
    }

    /// The digits in a message to the telephone; nil for any other message.
    static func digits(_ extra: String) -> String? {
        guard let json = try? JSONValue.parse(extra.utf8), json["msgtype"]?.string == "dtmf" else { return nil }
        return name(json["msgdata"])
    }

    /// The code in the text of a failure.
    static func code(_ extra: String) -> SignalingCode? {
        guard let json = try? JSONValue.parse(extra.utf8), let number = json["code"]?.integer else { return nil }
        return Int(exactly: number).flatMap { SignalingCode(rawValue: $0) }
    }

    /// The text of an inbound invitation.
    static func invitation(caller: String, called: String, headers: IncomingHeaders) -> String {
        let members =
            [JSONMember("srcNum", caller), JSONMember("destNum", called)]
            + headers.fields.map { JSONMember("sip_header:\($0.name)", $0.value) }
        return JSONValue.object(members).compactText
    }

    /// The text of a string, or of a number as it was written.
    static func name(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .null, .bool, .array, .object, nil: nil
        }
    }
}
