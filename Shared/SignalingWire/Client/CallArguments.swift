internal import SignalingProtocol

/// Reads the arguments of a call within the API's bounds. Values that are not strings are taken as their compact
/// JSON text (`Docs/protocol.md`).
struct CallArguments {
    let outline: JSONOutline
    let object: JSONOutline.Place

    private subscript(_ name: StaticString) -> JSONValue? {
        outline.member(name, of: object).map { outline.value(at: $0) }
    }

    var isObject: Bool { outline.kind(of: object) == .object }

    /// Whether the argument `line` equals `line`; nil when it is missing or not text.
    func matches(line: String) -> Bool? {
        guard let place = outline.member("line", of: object) else { return nil }
        var line = line
        if line.withUTF8({ outline.isString(place, $0) }) { return true }
        return outline.value(at: place).nameText.map { $0 == line }
    }

    /// The message's id, at most ``ClientCall/messageIDBytes`` bytes; nil when it is missing or empty.
    var messageID: String? {
        let id = self["messageID"]?.string ?? ""
        return (1...ClientCall.messageIDBytes).contains(id.utf8.count) ? id : nil
    }

    func account(_ name: StaticString) throws(SignalingError) -> Account { try Account(try required(name)) }

    /// An account that need not exist yet.
    func newAccount(_ name: StaticString) throws(SignalingError) -> Account { try Account(new: try required(name)) }

    func channel(_ name: StaticString) throws(SignalingError) -> ChannelName { try ChannelName(try required(name)) }

    /// A channel that need not exist yet.
    func newChannel(_ name: StaticString) throws(SignalingError) -> ChannelName {
        try ChannelName(new: try required(name))
    }

    func attributeName() throws(SignalingError) -> AttributeName { try AttributeName(try required("name")) }

    /// An attribute to set.
    func attribute() throws(SignalingError) -> Attribute {
        Attribute(
            name: try AttributeName(new: try required("name")), value: try bounded("value", Limits.attributeValueBytes))
    }

    func body(_ name: StaticString) throws(SignalingError) -> String { try bounded(name, Limits.messageBytes) }

    /// The content of a message to a user. Its type `t` must be `instant`: clients may not send the system's own types.
    func instantContent() throws(SignalingError) -> String {
        guard outline.member("t", of: object).map({ outline.isString($0, "instant") }) ?? true else {
            throw SignalingError(.wrongParameter, .invalidType, "a message's type must be instant")
        }
        return try body("content")
    }

    /// `extra`, empty when missing.
    func extra(mustBeJSON: Bool) throws(SignalingError) -> String {
        guard self["extra"] != nil else { return "" }
        let extra = try body("extra")
        if mustBeJSON, !extra.isEmpty, (try? JSONValue.parse(extra.utf8)) == nil {
            throw SignalingError(.wrongParameter, .invalidExtra, "extra must be empty or JSON")
        }
        return extra
    }

    func isTrue(_ name: StaticString) -> Bool { self[name]?.isTrue ?? false }

    /// The third field of `flag`, `v1:E:<seconds>`, within 1...``Limits/messageTimeToLive``; the web clients' 3600 when
    /// there is no flag.
    func seconds() throws(SignalingError) -> Int {
        guard let flag = self["flag"] else { return 3600 }
        guard let text = flag.string, let seconds = Self.seconds(ofFlag: text) else {
            throw SignalingError(.wrongParameter, .invalidFlag, "flag must be v1:E:<seconds>")
        }
        return Int(min(max(seconds, 1), Double(Limits.messageTimeToLive)))
    }

    private static func seconds(ofFlag flag: String) -> Double? {
        let colon = UInt8(ascii: ":")
        var flag = flag
        return flag.withUTF8 { bytes in
            guard let first = bytes.firstIndex(of: colon),
                let second = bytes[(first + 1)...].firstIndex(of: colon)
            else { return nil }
            let field = UnsafeBufferPointer(rebasing: bytes[(second + 1)...].prefix { $0 != colon })
            // Nearly always a whole number, which is parsed much faster than a `Double`.
            if let whole = DecimalText.parse(field) { return Double(whole) }
            return Double(String(decoding: field, as: UTF8.self)).flatMap { $0.isNaN ? nil : $0 }
        }
    }

    /// The version up to which entries were processed. Anything but a number counts as 0: old clients stop polling
    /// for good when a poll is refused.
    var verClear: Int64 { max(self["ver_clear"]?.integer ?? 0, 0) }

    /// The most entries that the answer may have.
    var pageLimit: Int { clamp(self["max"]?.integer ?? 30, to: Limits.mailboxPage) }

    func listLimit() throws(SignalingError) -> Int {
        guard let num = self["num"], num != .null else { return Limits.userListAll }
        guard let limit = num.integer else {
            throw SignalingError(.wrongParameter, .invalidNum, "num must be an integer")
        }
        return clamp(limit, to: 1...Limits.userListAll)
    }

    private func clamp(_ number: Int64, to range: ClosedRange<Int>) -> Int {
        Int(min(max(number, Int64(range.lowerBound)), Int64(range.upperBound)))
    }

    private func required(_ name: StaticString) throws(SignalingError) -> String {
        guard let value = self[name] else {
            throw SignalingError(.wrongParameter, .missingArgument, "the argument \(name) is missing")
        }
        guard let text = value.nameText else {
            throw SignalingError(.wrongParameter, .invalidArgument, "the argument \(name) must be a string")
        }
        return text
    }

    private func bounded(_ name: StaticString, _ bound: Int) throws(SignalingError) -> String {
        guard let value = self[name] else {
            throw SignalingError(.wrongParameter, .missingArgument, "the argument \(name) is missing")
        }
        let text = value.textOrCompact
        guard text.utf8.count <= bound else {
            throw SignalingError(.largeParameter, .tooLarge, "the argument \(name) may have up to \(bound) bytes")
        }
        return text
    }
}
