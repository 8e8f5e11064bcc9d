/// The topmost `Via` value: where it asks the answer to go. Source: RFC 3261 section 18.2, RFC 3581 section 4.
struct SIPVia {
    /// The address that the sender believes to be its own.
    let host: [UInt8]
    /// Nil stands for 5060.
    let port: Int?
    /// Whether there is an `rport` without a value.
    let asksForPort: Bool
    private let head: ArraySlice<UInt8>
    private let parameters: [ArraySlice<UInt8>]

    /// Nil when it has no protocol, transport and address.
    init?(_ value: ArraySlice<UInt8>) {
        guard let parts = SIPBytes.split(value, at: UInt8(ascii: ";")), let first = parts.first else { return nil }
        // "SIP / 2.0 / UDP  host : port": white space may stand around each mark.
        let pieces = first.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard pieces.count == 3, SIPBytes.equalIgnoringCase(SIPBytes.trimmed(pieces[0]), "SIP"),
            SIPBytes.isToken(SIPBytes.trimmed(pieces[1]))
        else { return nil }
        let tail = SIPBytes.trimmed(pieces[2])
        let transport = tail.prefix { !SIPBytes.isSpace($0) }
        let address = SIPBytes.trimmed(tail[transport.endIndex...])
        guard SIPBytes.isToken(transport), let (host, port) = Self.hostAndPort(address) else { return nil }
        (self.host, self.port, head) = (host, port, first)
        parameters = Array(parts.dropFirst())
        asksForPort = parameters.contains { SIPBytes.equalIgnoringCase(SIPBytes.trimmed($0), "rport") }
    }

    /// The value for the answer: `received` and `rport` say where the request really came from.
    func answered(sourceAddress: String, sourcePort: Int) -> [UInt8] {
        var value = Array(head)
        for parameter in parameters {
            let name = SIPBytes.trimmed(parameter.prefix { $0 != UInt8(ascii: "=") })
            // A "received" of the sender's making would mislead the next hop.
            if SIPBytes.equalIgnoringCase(name, "received") { continue }
            value.append(UInt8(ascii: ";"))
            value += parameter
            if asksForPort && SIPBytes.equalIgnoringCase(SIPBytes.trimmed(parameter), "rport") {
                value += "=\(sourcePort)".utf8
            }
        }
        if asksForPort || host != Array(sourceAddress.utf8) { value += ";received=\(sourceAddress)".utf8 }
        return value
    }

    private static func hostAndPort(_ address: ArraySlice<UInt8>) -> ([UInt8], Int?)? {
        var (host, rest) = (address, address[address.endIndex...])
        if address.first == UInt8(ascii: "["), let close = address.firstIndex(of: UInt8(ascii: "]")) {
            host = address[(address.startIndex + 1)..<close]
            rest = address[(close + 1)...]
        } else if let colon = address.firstIndex(of: UInt8(ascii: ":")) {
            host = address[..<colon]
            rest = address[colon...]
        }
        host = SIPBytes.trimmed(host)
        rest = SIPBytes.trimmed(rest)
        let allowed = host.allSatisfy { SIPBytes.isToken($0) || $0 == UInt8(ascii: ":") }
        guard !host.isEmpty, allowed else { return nil }
        if rest.isEmpty { return (Array(host), nil) }
        guard rest.first == UInt8(ascii: ":"),
            let port = SIPBytes.number(SIPBytes.trimmed(rest.dropFirst()), upTo: 65_535), port > 0
        else { return nil }
        return (Array(host), Int(port))
    }
}
