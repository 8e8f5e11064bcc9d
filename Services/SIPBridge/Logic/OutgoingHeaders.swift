/// Why a header that the caller asked for is not sent.
public enum OutgoingHeaderProblem: String, Error, Sendable, CaseIterable {
    /// The name is empty, too long, or has a character that names cannot have.
    case invalidName = "invalid_name"
    /// The name, or what it stands for in its compact form, is the bridge's own to write.
    case reservedName = "reserved_name"
    /// The value has a control character.
    case invalidValue = "invalid_value"
    /// More than ``OutgoingHeaders/countBound``.
    case tooMany = "too_many"
    /// More bytes than ``OutgoingHeaders/byteBound``.
    case tooLong = "too_long"
}

/// The header fields that a caller adds to an INVITE: `sip_header:NAME` in its `extra`.
///
/// Nothing that the protocol itself reads can be set, whatever the spelling, and no value can begin another line.
public struct OutgoingHeaders: Equatable, Sendable {
    /// Fields at most.
    public static let countBound = 32
    /// Bytes of all names and values at most: an INVITE by UDP has to fit into one datagram.
    public static let byteBound = 4096
    private static let nameBound = 64

    /// In the order given; each name once, the later of two that differ in case only.
    public private(set) var fields: [SIPHeaderField] = []

    /// None.
    public init() {}

    /// Adds a field.
    /// - Throws: ``OutgoingHeaderProblem``.
    public mutating func add(name: String, value: String) throws(OutgoingHeaderProblem) {
        guard (1...Self.nameBound).contains(name.utf8.count), name.utf8.allSatisfy(SIPHeaderField.isTokenByte) else {
            throw .invalidName
        }
        let folded = name.lowercased()
        guard !Self.isReserved(folded) else { throw .reservedName }
        guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else { throw .invalidValue }
        var next = fields.filter { $0.name.lowercased() != folded }
        guard next.count < Self.countBound else { throw .tooMany }
        next.append(SIPHeaderField(name, value))
        guard next.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.byteBound else {
            throw .tooLong
        }
        fields = next
    }

    private static func isReserved(_ name: String) -> Bool {
        // Every compact form is one letter, also those that are yet to come.
        name.utf8.count == 1 || reserved.contains(name) || reservedStarts.contains { name.hasPrefix($0) }
    }

    private static let reservedStarts = [
        "accept", "allow", "authentication-", "content-", "proxy-", "security-", "sip-",
    ]
    private static let reserved: Set<String> = [
        "authorization", "call-id", "contact", "cseq", "date", "event", "expires", "feature-caps", "flow-timer", "from",
        "identity", "identity-info", "in-reply-to", "info-package", "join", "max-breadth", "max-forwards",
        "mime-version",
        "min-expires", "min-se", "path", "rack", "record-route", "recv-info", "refer-sub", "refer-to", "referred-by",
        "replaces", "request-disposition", "require", "retry-after", "route", "rseq", "server", "service-route",
        "session-expires", "session-id", "subscription-state", "supported", "suppress-if-match", "target-dialog",
        "timestamp", "to", "trigger-consent", "unsupported", "user-agent", "via", "warning", "www-authenticate",
    ]
}
