import SignalingProtocol
import SignalingWire

/// Why a call is refused, as its answer reports it.
struct Refusal: Hashable {
    var code: SignalingCode
    /// The answer's `reason`.
    var reason: String
    /// The condition, for the page; empty when the argument's type and bounds already imply it.
    var when = ""

    init(_ code: SignalingCode, _ reason: String, _ when: String = "") {
        self.code = code
        self.reason = reason
        self.when = when
    }

    static let missing = Refusal(.wrongParameter, "missing_argument")
    static let noText = Refusal(.wrongParameter, "invalid_argument")
}

/// Declares one argument of a function: its documentation on the page, and values that test it.
struct ArgumentDeclaration {
    var name: String
    var kind: Kind
    var isRequired: Bool
    var meaning: String

    /// How the value is parsed and checked.
    enum Kind {
        /// A new name must not be `.` or `..`.
        case account(isNew: Bool)
        case channel(isNew: Bool)
        case attributeName(isNew: Bool)
        /// Passed on unchanged; a JSON value that is not a string is passed on as its compact text.
        case text(bytes: Int)
        /// Must be empty or valid JSON.
        case jsonText(bytes: Int)
        /// Never refused: a number outside the range is replaced by the nearest bound.
        case clampedNumber(ClosedRange<Int>, default: Int)
        /// The same, but other values than whole numbers are refused.
        case number(ClosedRange<Int>, default: Int)
        /// `v1:E:SECONDS`.
        case timeToLive(ClosedRange<Int>, default: Int)
        /// Only this value is accepted.
        case constant(String)
        /// True or false; never refused.
        case flag
        /// Ignored when it is empty or longer than this.
        case identifier(bytes: Int)
    }
}

extension ArgumentDeclaration {
    static func account(_ name: String, isNew: Bool = false, _ meaning: String) -> Self {
        Self(name: name, kind: .account(isNew: isNew), isRequired: true, meaning: meaning)
    }

    static func channel(_ name: String, isNew: Bool = false, _ meaning: String = "the channel") -> Self {
        Self(name: name, kind: .channel(isNew: isNew), isRequired: true, meaning: meaning)
    }

    static func attribute(isNew: Bool = false, _ meaning: String = "the attribute") -> Self {
        Self(name: "name", kind: .attributeName(isNew: isNew), isRequired: true, meaning: meaning)
    }

    static func text(_ name: String, bytes: Int, _ meaning: String) -> Self {
        Self(name: name, kind: .text(bytes: bytes), isRequired: true, meaning: meaning)
    }

    static func optional(_ name: String, _ kind: Kind, _ meaning: String) -> Self {
        Self(name: name, kind: kind, isRequired: false, meaning: meaning)
    }
}

extension ArgumentDeclaration.Kind {
    /// The name of the type on the page.
    var type: String {
        switch self {
        case .account: "account"
        case .channel: "channel name"
        case .attributeName: "attribute name"
        case .text, .identifier: "text"
        case .jsonText: "JSON text"
        case .clampedNumber, .number: "whole number"
        case .timeToLive: "`v1:E:SECONDS`"
        case .constant: "text"
        case .flag: "true or false"
        }
    }

    /// The bounds and the default, and how values outside the bounds are treated.
    var bounds: String {
        switch self {
        case .account(let isNew):
            "1...\(Limits.accountBytes) bytes without white space and control characters\(Self.noDots(isNew))"
        case .channel(let isNew):
            "1...\(Limits.channelNameBytes) bytes without control characters\(Self.noDots(isNew))"
        case .attributeName(let isNew):
            "1...\(Limits.attributeNameBytes) bytes without control characters\(Self.noDots(isNew))"
        case .text(let bytes): "at most \(bytes) bytes; a value that is not a string is stored as compact JSON text"
        case .jsonText(let bytes): "empty or valid JSON, at most \(bytes) bytes"
        case .clampedNumber(let range, let standard):
            "\(Self.text(range)), default \(standard); clamped to the range; without a number, the default"
        case .number(let range, let standard):
            "\(Self.text(range)), default \(standard); clamped to the range"
        case .timeToLive(let range, let standard):
            "\(Self.text(range)) seconds, default \(standard); clamped to the range"
        case .constant(let text): "only `\(text)`, which is the default"
        case .flag: "`true`, or a number other than 0; everything else is false"
        case .identifier(let bytes): "1...\(bytes) bytes; anything else is ignored"
        }
    }

    /// JSON values that must be accepted, including those at the bounds.
    var accepted: [String] {
        switch self {
        case .account(let isNew):
            [Self.string(Limits.accountBytes), "5", #""日本""#] + (isNew ? Self.nearlyDots : Self.dots)
        case .channel(let isNew):
            [Self.string(Limits.channelNameBytes), "5", #""room 1""#] + (isNew ? Self.nearlyDots : Self.dots)
        case .attributeName(let isNew):
            [Self.string(Limits.attributeNameBytes), "5"] + (isNew ? Self.nearlyDots : Self.dots)
        case .text(let bytes): [Self.string(bytes), "30", "null", "[1]", #""""#]
        case .jsonText(let bytes):
            [#""{\"a\":[1]}""#, #""""#, #"{"a":1}"#, "\"[\(String(repeating: "1", count: bytes - 2))]\""]
        case .clampedNumber: ["0", "-1", "1e300", "null", "[]", #""5""#]
        case .number(let range, _): ["\(range.lowerBound)", "\(range.upperBound)", "-1", "1e15", "null", #""5""#]
        case .timeToLive(let range, _):
            ["\"v1:E:\(range.lowerBound)\"", "\"v1:E:\(range.upperBound)\"", #""v1:E:0""#, #""v1:E:1e300""#]
        case .constant(let text): ["\"\(text)\""]
        case .flag: ["true", "1", "0", "null", "[]"]
        case .identifier(let bytes): [Self.string(bytes), Self.string(bytes + 1), #""""#, "5", "null"]
        }
    }

    /// JSON values that must be refused, each with its refusal.
    var refused: [(value: String, refusal: Refusal)] {
        switch self {
        case .account(let isNew):
            let invalid = Refusal(.invalidUser, "invalid_account")
            let bad = [Self.string(Limits.accountBytes + 1), #""""#, #""a b""#, #""a\tb""#]
            return Self.noNames + (bad + (isNew ? Self.dots : [])).map { ($0, invalid) }
        case .channel(let isNew):
            let invalid = Refusal(.wrongParameter, "invalid_channel")
            let bad = [Self.string(Limits.channelNameBytes + 1), #""""#, #""a\tb""#]
            return Self.noNames + (bad + (isNew ? Self.dots : [])).map { ($0, invalid) }
        case .attributeName(let isNew):
            let invalid = Refusal(.wrongParameter, "invalid_attribute_name")
            let bad = [Self.string(Limits.attributeNameBytes + 1), #""""#, #""a\tb""#]
            return Self.noNames + (bad + (isNew ? Self.dots : [])).map { ($0, invalid) }
        case .text(let bytes):
            return [(Self.string(bytes + 1), Refusal(.largeParameter, "too_large"))]
        case .jsonText(let bytes):
            return [
                (#""no JSON""#, Refusal(.wrongParameter, "invalid_extra")),
                (Self.string(bytes + 1), Refusal(.largeParameter, "too_large")),
            ]
        case .number:
            return [#""all""#, "1.5", "[]"].map { ($0, Refusal(.wrongParameter, "invalid_num")) }
        case .timeToLive:
            let invalid = Refusal(.wrongParameter, "invalid_flag")
            return ["3600", "null", #""v1""#, #""v1:E:soon""#, #""v1:E:""#].map { ($0, invalid) }
        case .constant:
            return [#""voip_invite_bye""#, "null", "5"].map { ($0, Refusal(.wrongParameter, "invalid_type")) }
        case .clampedNumber, .flag, .identifier:
            return []
        }
    }

    /// JSON values that cannot be names.
    private static let noNames = ["null", "true", "[]", "{}"].map { (value: $0, refusal: Refusal.noText) }

    /// JSON values that only names which exist already may be.
    private static let dots = [#"".""#, #""..""#]
    private static let nearlyDots = [#""...""#, #"".a""#, #""%2e""#]

    private static func noDots(_ isNew: Bool) -> String { isNew ? ", not `.` or `..`" : "" }

    /// A JSON string of `bytes` bytes.
    private static func string(_ bytes: Int) -> String { "\"\(String(repeating: "x", count: bytes))\"" }

    /// A range as the page shows it; without its upper bound when it has none.
    private static func text(_ range: ClosedRange<Int>) -> String {
        range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)...\(range.upperBound)"
    }
}
