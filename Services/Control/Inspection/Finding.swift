/// One line for an operator about Redis: what is the case, and what to do about it.
package struct Finding: Sendable, Equatable {
    package enum Weight: String, Sendable {
        /// Something does not work, or will not at the next failure.
        case wrong
        /// It works, and could be better.
        case advice
    }

    package let weight: Weight
    package let text: String

    package static func wrong(_ text: String) -> Finding { Finding(weight: .wrong, text: text) }
    package static func advice(_ text: String) -> Finding { Finding(weight: .advice, text: text) }
}
