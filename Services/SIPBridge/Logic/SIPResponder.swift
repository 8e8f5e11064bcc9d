/// Why a datagram stays without an answer; the raw value is the metric's label.
public enum SIPDropReason: String, Sendable, CaseIterable {
    /// More bytes than ``SIPLimits/messageBytes``.
    case tooLong = "too_long"
    /// Line ends only.
    case keepAlive = "keep_alive"
    /// An answer to nothing that was asked.
    case response
    /// An ACK, which is never answered.
    case acknowledgement
    /// No SIP, or without a `Via` to answer to.
    case malformed
}

/// An answer on its way.
public struct SIPReply: Equatable, Sendable {
    /// The status code.
    public let status: Int
    /// The method it answers, if it is a known one, else `other`: safe as a metric's label.
    public let method: String
    /// The whole message.
    public let bytes: [UInt8]
    /// The port at the request's source address to send it to.
    public let port: Int
}

/// What becomes of a datagram.
public enum SIPOutcome: Equatable, Sendable {
    /// It is answered.
    case reply(SIPReply)
    /// It is not.
    case drop(SIPDropReason)
}

/// Answers requests without keeping anything of them, as RFC 3261 section 8.2.7 lets a server do.
///
/// Answers go to the address that the request came from, whatever `maddr` asks, so that nobody can be flooded through this
/// listener from a third place, except with a forged source address.
public struct SIPResponder: Sendable {
    /// Methods that are carried out.
    static let allowed = ["OPTIONS"]
    /// Methods that are understood, but refused (405); others are unknown (501).
    static let known: Set<String> = [
        "INVITE", "BYE", "CANCEL", "REGISTER", "INFO", "PRACK", "UPDATE", "SUBSCRIBE", "NOTIFY", "REFER", "MESSAGE",
        "PUBLISH",
    ]
    static let schemes: Set<String> = ["sip", "sips", "tel"]
    private static let standardPort = 5060

    private let tag: @Sendable ([UInt8]) -> String

    /// Creates a responder.
    /// - Parameter tag: makes the `To` tag from what identifies the request; the same for a retransmission.
    public init(tag: @escaping @Sendable ([UInt8]) -> String) { self.tag = tag }

    /// Decides about one datagram.
    public func outcome(of datagram: [UInt8], sourceAddress: String, sourcePort: Int) -> SIPOutcome {
        guard datagram.count <= SIPLimits.messageBytes else { return .drop(.tooLong) }
        let request: SIPRequest
        switch SIPMessage(datagram: datagram) {
        case .keepAlive: return .drop(.keepAlive)
        case .response: return .drop(.response)
        case .unintelligible: return .drop(.malformed)
        case .request(let received): request = received
        }
        if request.method == "ACK" { return .drop(.acknowledgement) }
        guard let vias = Self.vias(of: request), let top = vias.first.flatMap({ SIPVia($0[...]) }) else {
            return .drop(.malformed)
        }
        let verdict = Self.verdict(on: request)
        var writer = SIPResponseWriter(status: verdict.status, reason: verdict.reason)
        writer.put("Via", top.answered(sourceAddress: sourceAddress, sourcePort: sourcePort))
        for via in vias.dropFirst() { writer.put("Via", via) }
        if let from = request.values("from").first { writer.put("From", from) }
        if let to = request.values("to").first { writer.put("To", tagged(to, request)) }
        if let callID = request.values("call-id").first { writer.put("Call-ID", callID) }
        if let sequence = request.values("cseq").first { writer.put("CSeq", sequence) }
        for (name, value) in verdict.headers { writer.put(name, value) }
        let isKnown = Self.allowed.contains(request.method) || Self.known.contains(request.method)
        return .reply(
            SIPReply(
                status: verdict.status, method: isKnown ? request.method : "other", bytes: writer.finished(),
                port: top.asksForPort ? sourcePort : top.port ?? Self.standardPort))
    }

    private struct Verdict {
        var status: Int
        var reason: String
        var headers: [(String, [UInt8])] = []
    }

    private static func verdict(on request: SIPRequest) -> Verdict {
        let allow = ("Allow", Array(allowed.joined(separator: ", ").utf8))
        if let problem = request.problem { return Verdict(status: 400, reason: problem.rawValue) }
        if request.version != "SIP/2.0" { return Verdict(status: 505, reason: "Version Not Supported") }
        guard allowed.contains(request.method) else {
            return known.contains(request.method)
                ? Verdict(status: 405, reason: "Method Not Allowed", headers: [allow])
                : Verdict(status: 501, reason: "Not Implemented", headers: [allow])
        }
        if !schemes.contains(request.scheme) { return Verdict(status: 416, reason: "Unsupported URI Scheme") }
        let required = request.required
        if !required.isEmpty {
            return Verdict(
                status: 420, reason: "Bad Extension", headers: required.map { ("Unsupported", $0) })
        }
        let abilities = [
            ("Accept", "application/sdp"), ("Accept-Encoding", "identity"), ("Accept-Language", "en"),
            ("Supported", ""),
        ]
        return Verdict(status: 200, reason: "OK", headers: [allow] + abilities.map { ($0, Array($1.utf8)) })
    }

    /// The single values of all `Via` fields; nil when they are malformed or too many.
    private static func vias(of request: SIPRequest) -> [[UInt8]]? {
        var all: [[UInt8]] = []
        for field in request.values("via") {
            guard let values = SIPBytes.split(field[...], at: UInt8(ascii: ",")) else { return nil }
            all += values.map { Array(SIPBytes.trimmed($0)) }
        }
        return all.count <= SIPLimits.headers ? all : nil
    }

    private func tagged(_ to: [UInt8], _ request: SIPRequest) -> [UInt8] {
        guard let address = SIPAddress(to), !address.hasTag else { return to }
        let identity = ["via", "from", "call-id", "cseq"].flatMap { request.values($0).first ?? [] }
        return to + Array(";tag=\(tag(identity))".utf8)
    }
}
