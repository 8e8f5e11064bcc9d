/// Finds the Call-ID in an encoded message without parsing the rest.
package enum SIPCallIDScan {
    /// The value of the first Call-ID field, in its full or compact form; nil when no header field has one.
    package static func callID(in packet: some RandomAccessCollection<UInt8>) -> String? {
        for line in packet.split(separator: 0x0a, omittingEmptySubsequences: false).dropFirst() {
            let text = line.last == 0x0d ? line.dropLast() : line
            if text.isEmpty { return nil }
            guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = SIPText.trimmed(String(decoding: text[..<colon], as: UTF8.self)).lowercased()
            guard name == "call-id" || name == "i" else { continue }
            return SIPText.trimmed(String(decoding: text[text.index(after: colon)...], as: UTF8.self))
        }
        return nil
    }
}
