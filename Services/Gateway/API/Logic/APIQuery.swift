internal import SignalingProtocol

/// The parameters after the question mark of a request line.
struct APIQuery {
    private let values: [(name: String, value: String)]

    /// Reads `a=1&b=2`.
    /// - Parameter known: the names that it may have.
    init(_ text: Substring?, known: [String]) throws(APIProblem) {
        var values: [(name: String, value: String)] = []
        for part in (text ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(pair[0]), let value = Self.decode(pair.count == 2 ? pair[1] : "") else {
                throw APIProblem(.malformed, "the query is not percent-encoded UTF-8")
            }
            guard known.contains(name) else {
                throw APIProblem(
                    .invalidArgument, "there is no such parameter here", field: String(name.prefix(200)),
                    bound: known.isEmpty ? "none" : known.joined(separator: ", "))
            }
            guard !values.contains(where: { $0.name == name }) else { throw APIProblem.invalid(name, "given once") }
            values.append((name, value))
        }
        self.values = values
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEscape.unescape(String(text.replacing("+", with: " ")), allowsLowerCase: true)
    }

    /// A text of so many bytes without control characters; nil where it is missing.
    func text(_ name: String, bytes: ClosedRange<Int>) throws(APIProblem) -> String? {
        guard let text = values.first(where: { $0.name == name })?.value else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard bytes.contains(text.utf8.count), isPlain else {
            throw APIProblem.invalid(
                name, "\(bytes.lowerBound)...\(bytes.upperBound) bytes without control characters")
        }
        return text
    }

    /// A text of so many bytes, of any characters; nil where it is missing.
    func value(_ name: String, bytes: ClosedRange<Int>) throws(APIProblem) -> String? {
        guard let text = values.first(where: { $0.name == name })?.value else { return nil }
        guard bytes.contains(text.utf8.count) else {
            throw APIProblem.invalid(name, "\(bytes.lowerBound)...\(bytes.upperBound) bytes")
        }
        return text
    }

    /// One of several words; the first where it is missing.
    func word(_ name: String, of words: [String]) throws(APIProblem) -> String {
        guard let text = values.first(where: { $0.name == name })?.value else { return words[0] }
        guard words.contains(text) else { throw APIProblem.invalid(name, words.joined(separator: " or ")) }
        return text
    }

    /// A whole number; `standard` where it is missing.
    func integer(_ name: String, in range: ClosedRange<Int>, standard: Int) throws(APIProblem) -> Int {
        guard let text = values.first(where: { $0.name == name })?.value else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw APIProblem.invalid(name, "a whole number of \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }
}
