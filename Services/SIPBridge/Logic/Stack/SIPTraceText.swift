/// Removes secrets from SIP messages, for traces.
package enum SIPTraceText {
    private static let secretFields: Set<String> = ["authorization", "proxy-authorization"]
    private static let secretLines = ["a=crypto:", "k="]

    /// The message without credentials, media keys and the digits of INFO requests, which must not be logged.
    package static func redacted(_ text: String) -> String {
        var lines: [Substring] = []
        var isBody = false
        let isInfo = text.hasPrefix("INFO ")
        for line in text.split(separator: "\r\n", omittingEmptySubsequences: false) {
            if isBody {
                if isInfo { continue }
                lines.append(secretLines.first { line.hasPrefix($0) }.map { "\($0)..." } ?? line)
            } else {
                let name = line.prefix { $0 != ":" && $0 != " " && $0 != "\t" }
                isBody = line.isEmpty
                lines.append(secretFields.contains(name.lowercased()) ? "\(name): ..." : line)
            }
        }
        return lines.joined(separator: "\r\n")
    }
}
