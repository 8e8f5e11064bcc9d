internal import SignalingProtocol

/// Reads the arguments of a call within the API's bounds. Values that are not strings are taken as their compact JSON text
/// (wire protocol, section 12.15).
struct CallArguments {
    let object: JSONValue

    func account(_ name: String) throws(SignalingError) -> Account { try Account(try required(name)) }

    func channel(_ name: String) throws(SignalingError) -> ChannelName { try ChannelName(try required(name)) }

    func attributeName() throws(SignalingError) -> AttributeName { try AttributeName(try required("name")) }

    func attribute() throws(SignalingError) -> Attribute {
        Attribute(name: try attributeName(), value: try bounded("value", Limits.attributeValueBytes))
    }

    func body(_ name: String) throws(SignalingError) -> String { try bounded(name, Limits.messageBytes) }

    /// The content of a message to a user. Its type is `instant`: other types are the system's own.
    func instantContent() throws(SignalingError) -> String {
        guard object["t"] == nil || object["t"] == .string("instant") else {
            throw SignalingError(.wrongParameter, "invalid_type", "a message's type is instant")
        }
        return try body("content")
    }

    /// `extra`, empty when missing.
    func extra(mustBeJSON: Bool) throws(SignalingError) -> String {
        guard object["extra"] != nil else { return "" }
        let extra = try body("extra")
        if mustBeJSON, !extra.isEmpty, (try? JSONValue.parse(extra.utf8)) == nil {
            throw SignalingError(.wrongParameter, "invalid_extra", "extra is neither empty nor JSON")
        }
        return extra
    }

    func isTrue(_ name: String) -> Bool { object[name]?.isTrue ?? false }

    /// The third field of `flag`, `v1:E:<seconds>`, within 1...``Limits/messageTimeToLive``; the web clients' 3600 when
    /// there is no flag.
    func seconds() throws(SignalingError) -> Int {
        guard let flag = object["flag"] else { return 3600 }
        let fields = (flag.string ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count >= 3, let seconds = Double(fields[2]), !seconds.isNaN else {
            throw SignalingError(.wrongParameter, "invalid_flag", "flag is not v1:E:<seconds>")
        }
        return Int(min(max(seconds, 1), Double(Limits.messageTimeToLive)))
    }

    /// A poll is never refused, because old clients stop polling for good then: a mark that is no number says nothing.
    var verClear: Int64 { max(object["ver_clear"]?.integer ?? 0, 0) }

    /// Entries of one answer.
    var pageLimit: Int { clamp(object["max"]?.integer ?? 30, to: Limits.mailboxPage) }

    func listLimit() throws(SignalingError) -> Int {
        guard let num = object["num"], num != .null else { return Limits.userListAll }
        guard let limit = num.integer else {
            throw SignalingError(.wrongParameter, "invalid_num", "num is no whole number")
        }
        return clamp(limit, to: 1...Limits.userListAll)
    }

    private func clamp(_ number: Int64, to range: ClosedRange<Int>) -> Int {
        Int(min(max(number, Int64(range.lowerBound)), Int64(range.upperBound)))
    }

    private func required(_ name: String) throws(SignalingError) -> String {
        guard let value = object[name] else {
            throw SignalingError(.wrongParameter, "missing_argument", "the argument \(name) is missing")
        }
        guard let text = value.nameText else {
            throw SignalingError(.wrongParameter, "invalid_argument", "the argument \(name) is no text")
        }
        return text
    }

    private func bounded(_ name: String, _ bound: Int) throws(SignalingError) -> String {
        guard let value = object[name] else {
            throw SignalingError(.wrongParameter, "missing_argument", "the argument \(name) is missing")
        }
        let text = value.textOrCompact
        guard text.utf8.count <= bound else {
            throw SignalingError(.largeParameter, "too_large", "the argument \(name) may have up to \(bound) bytes")
        }
        return text
    }
}
