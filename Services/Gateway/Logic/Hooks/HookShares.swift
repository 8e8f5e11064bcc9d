/// Counts the questions that each client address has under way at an app's server. An address may have only a share of
/// the app's questions, so that one client's slow questions leave room for other clients.
package struct HookShares: Sendable {
    /// The part of an app's questions that one address may have under way.
    private static let part = 8
    /// What an address may have under way however few questions there are.
    private static let least = 4

    /// The most questions of an address under way.
    package let bound: Int
    private var underWay: [ClientAddress: Int] = [:]

    /// - Parameter questions: the most questions of the app under way, which bounds the number of
    ///   addresses that are remembered.
    package init(of questions: Int) { bound = max(questions / Self.part, Self.least) }

    /// Whether an address may ask another question. One that is not counted, nil, always may.
    package func hasRoom(for address: ClientAddress?) -> Bool {
        guard let address else { return true }
        return underWay[address, default: 0] < bound
    }

    /// Counts a question; ``answered(_:)`` must follow.
    package mutating func asked(_ address: ClientAddress?) {
        if let address { underWay[address, default: 0] += 1 }
    }

    /// Takes the end of a question.
    package mutating func answered(_ address: ClientAddress?) {
        guard let address, let count = underWay[address] else { return }
        underWay[address] = count > 1 ? count - 1 : nil
    }
}
