/// Checks every request before anything else handles it: syntax, method, URI, extensions, encoding.
///
/// Source: RFC 3261 sections 8.1.1, 8.2 and 18.3.
package enum SIPScreening {
    /// The result of the checks.
    package enum Verdict: Equatable, Sendable {
        /// It may be handled.
        case pass
        /// It is answered with this response.
        case reply(status: Int, reason: String, headers: [SIPHeaderField])
        /// It gets no response: a malformed ACK, or a request whose sender a response could not reach.
        case drop
    }

    /// The largest number of header fields in a request.
    package static let maxHeaders = 128

    private static let schemes: Set<String> = ["sip", "sips", "tel"]
    private static let single = ["from", "to", "call-id", "cseq", "content-length", "max-forwards", "content-type"]
    private static let mandatory = ["from", "to", "call-id", "cseq"]

    /// Checks a request.
    package static func verdict(on request: SIPMessage) -> Verdict {
        // With `maddr`, the response would go to a third address, which could be flooded that way.
        guard let via = request.header("Via"), !via.lowercased().contains("maddr") else { return .drop }
        let problem = problem(of: request)
        if request.method == "ACK" { return problem == nil ? .pass : .drop }
        if let problem { return .reply(status: 400, reason: problem, headers: []) }
        if request.method == "CANCEL" {
            // libre handles the CANCEL of a known transaction itself.
            return .reply(status: 481, reason: SIPReason.phrase(481), headers: [])
        }
        guard SIPCapabilities.methods.contains(request.method) else {
            let status = SIPCapabilities.refusedMethods.contains(request.method) ? 405 : 501
            return .reply(status: status, reason: SIPReason.phrase(status), headers: [SIPCapabilities.allow])
        }
        guard let uri = request.requestURI, schemes.contains(uri.scheme) else {
            return .reply(status: 416, reason: SIPReason.phrase(416), headers: [])
        }
        let unsupported = request.tokens("Require").filter { !SIPCapabilities.extensions.contains($0.lowercased()) }
        if !unsupported.isEmpty {
            let field = SIPHeaderField("Unsupported", unsupported.joined(separator: ", "))
            return .reply(status: 420, reason: SIPReason.phrase(420), headers: [field])
        }
        if !request.body.isEmpty, request.tokens("Content-Encoding").contains(where: { $0.lowercased() != "identity" })
        {
            return .reply(
                status: 415, reason: SIPReason.phrase(415), headers: [SIPHeaderField("Accept-Encoding", "identity")])
        }
        return .pass
    }

    /// The first syntax problem, as the reason phrase of a 400.
    private static func problem(of request: SIPMessage) -> String? {
        if request.headers.count > maxHeaders { return "Too Many Header Fields" }
        let names = request.headers.map(\.canonicalName)
        if mandatory.contains(where: { !names.contains($0) }) { return "Missing Mandatory Header Field" }
        for name in single where names.count(where: { $0 == name }) > 1 { return "Repeated Header Field" }
        if request.callID.isEmpty { return "Malformed Call-ID" }
        if request.from.uri.isEmpty || request.to.uri.isEmpty || request.from.tag == "" {
            return "Malformed From Or To"
        }
        if !SIPEncoding.isURI(request.from.uri) || !SIPEncoding.isURI(request.to.uri) { return "Malformed From Or To" }
        let sequence = (request.header("CSeq") ?? "").split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard sequence.count == 2, SIPText.number(sequence[0], upTo: 0x7fff_ffff) != nil,
            sequence[1] == request.method
        else { return "Malformed CSeq" }
        if let hops = request.header("Max-Forwards"), SIPText.number(SIPText.trimmed(hops), upTo: 255) == nil {
            return "Malformed Max-Forwards"
        }
        if let length = request.header("Content-Length") {
            guard let bytes = SIPText.number(SIPText.trimmed(length), upTo: 0xffff_ffff) else {
                return "Malformed Content-Length"
            }
            if bytes > request.receivedBodyBytes { return "Content-Length Exceeds Message" }
        }
        if let uri = request.requestURI, !SIPEncoding.isURI(uri.text) { return "Malformed Request Line" }
        return nil
    }
}
