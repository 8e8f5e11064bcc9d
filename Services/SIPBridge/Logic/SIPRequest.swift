/// A request's parts that an answer needs, and the first thing that is wrong with it.
struct SIPRequest {
    /// As it came; methods are case-sensitive. Empty when the request line is malformed.
    let method: String
    let uri: [UInt8]
    let version: String
    let headers: [SIPHeader]
    let problem: SIPProblem?

    init(start: ArraySlice<UInt8>, headers: [SIPHeader], problem: SIPProblem?, bodyBytes: Int) {
        self.headers = headers
        let parts = start.split(separator: 0x20, omittingEmptySubsequences: false)
        if parts.count == 3, SIPBytes.isToken(parts[0]), parts[0].count <= SIPLimits.methodBytes,
            Self.isURI(parts[1]), parts[2].starts(with: "SIP/".utf8)
        {
            method = String(decoding: parts[0], as: UTF8.self)
            uri = Array(parts[1])
            version = String(decoding: parts[2], as: UTF8.self)
            self.problem = problem ?? Self.problem(headers: headers, method: parts[0], bodyBytes: bodyBytes)
        } else {
            (method, uri, version) = ("", [], "")
            self.problem = .startLine
        }
    }

    /// The values of all fields of a name, in order.
    func values(_ name: String) -> [[UInt8]] { headers.filter { $0.name == name }.map(\.value) }

    /// The URI's scheme in lower case.
    var scheme: String {
        String(decoding: uri.prefix { $0 != UInt8(ascii: ":") }.map(SIPBytes.lowercased), as: UTF8.self)
    }

    /// The option tags of `Require`.
    var required: [[UInt8]] {
        values("require").flatMap { $0.split(separator: UInt8(ascii: ",")).map { Array(SIPBytes.trimmed($0)) } }
    }

    private static func isURI(_ bytes: ArraySlice<UInt8>) -> Bool {
        let refused: Set<UInt8> = [UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\"")]
        return bytes.contains(UInt8(ascii: ":")) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f && !refused.contains($0) }
    }

    /// Source: RFC 3261 sections 8.1.1 and 18.3.
    private static func problem(headers: [SIPHeader], method: ArraySlice<UInt8>, bodyBytes: Int) -> SIPProblem? {
        func all(_ name: String) -> [SIPHeader] { headers.filter { $0.name == name } }
        let mandatory = ["from", "to", "call-id", "cseq"].map(all)
        if mandatory.contains(where: \.isEmpty) || all("via").isEmpty { return .missing }
        let (lengths, hops) = (all("content-length"), all("max-forwards"))
        if (mandatory + [lengths, hops]).contains(where: { $0.count > 1 }) { return .repeated }
        if SIPAddress(mandatory[0][0].value) == nil || SIPAddress(mandatory[1][0].value) == nil { return .address }
        let callID = mandatory[2][0].value
        if callID.isEmpty || callID.contains(where: { $0 <= 0x20 || $0 >= 0x7f }) { return .callID }
        let sequence = mandatory[3][0].value.split(whereSeparator: SIPBytes.isSpace)
        guard sequence.count == 2, SIPBytes.number(sequence[0], upTo: 0x7fff_ffff) != nil, sequence[1] == method else {
            return .sequence
        }
        if let hops = hops.first, SIPBytes.number(hops.value[...], upTo: 255) == nil { return .maxForwards }
        if let length = lengths.first {
            guard let bytes = SIPBytes.number(length.value[...], upTo: 0xffff_ffff) else { return .contentLength }
            if bytes > UInt64(bodyBytes) { return .contentLengthExceeds }
        }
        return nil
    }
}
