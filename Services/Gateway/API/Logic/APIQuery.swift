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

    /// A whole number; `standard` where it is missing.
    func integer(_ name: String, in range: ClosedRange<Int>, standard: Int) throws(APIProblem) -> Int {
        guard let text = values.first(where: { $0.name == name })?.value else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw APIProblem.invalid(name, "a whole number of \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }
}
