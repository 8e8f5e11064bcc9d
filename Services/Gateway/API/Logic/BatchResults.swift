package import SignalingWire

/// The results of a batch of messages, in the order of the messages.
package struct BatchResults: Equatable, Sendable {
    /// Nil while there is none.
    private var results: [JSONValue?]

    /// - Parameter count: how many messages there are; none has a result yet.
    package init(count: Int) { results = Array(repeating: nil, count: count) }

    /// Reads what ``json`` was written as.
    /// - Returns: nil when it is something else, such as the answer of another operation.
    package init?(_ bytes: [UInt8]) {
        guard case .object(let members) = try? JSONValue.parse(bytes),
            case .array(let results)? = members.first(where: { $0.name == "results" })?.value
        else { return nil }
        self.results = results
    }

    package var count: Int { results.count }

    /// The messages that are still to be sent: those without a result, and those that have failed but may succeed
    /// later.
    package var open: [Int] { results.indices.filter { results[$0].map(Self.mayBeTriedAgain) ?? true } }

    /// Whether any is.
    package var isOpen: Bool { !open.isEmpty }

    /// Sets the result of a message that was sent.
    package mutating func set(_ index: Int, _ result: JSONValue) { results[index] = result }

    /// Sets the result of a message that was not sent.
    package mutating func set(_ index: Int, _ problem: APIProblem) {
        results[index] = .object([JSONMember("error", problem.json)])
    }

    /// What the operation answers.
    package var json: JSONValue {
        let failed = results.count { $0.map { Self.error(of: $0) != nil } ?? true }
        return .object([
            JSONMember("failed", failed), JSONMember("results", .array(results.map { $0 ?? .null })),
        ])
    }

    private static func mayBeTriedAgain(_ result: JSONValue) -> Bool {
        guard let error = error(of: result) else { return false }
        guard case .object(let members) = error, let word = members.first(where: { $0.name == "code" })?.value.string
        else { return false }
        return APIErrorCode(rawValue: word)?.isPassing == true
    }

    private static func error(of result: JSONValue) -> JSONValue? {
        guard case .object(let members) = result else { return nil }
        return members.first { $0.name == "error" }?.value
    }
}
