/// One of the sixteen events of a telephone's keypad (RFC 4733, section 3.2).
package struct DTMFEvent: Hashable, Sendable {
    /// The event's code, 0 to 15.
    package let code: UInt8

    private static let characters = Array("0123456789*#ABCD")

    /// The event with this code; nil above 15, because those events are not digits.
    package init?(code: UInt8) {
        guard code < 16 else { return nil }
        self.code = code
    }

    /// The event of `0` to `9`, `*`, `#`, or `A` to `D`; nil for any other character.
    package init?(_ character: Character) {
        guard let index = Self.characters.firstIndex(of: character) else { return nil }
        code = UInt8(index)
    }

    /// The event as one of `0` to `9`, `*`, `#`, or `A` to `D`.
    package var character: Character { Self.characters[Int(code)] }
}

/// Digits as users write them: `0` to `9`, `*`, `#`, `A` to `D`, and `,` for a pause.
package struct DTMFDigits: Equatable, Sendable {
    /// One character of the text.
    package enum Step: Equatable, Sendable {
        /// Play a digit.
        case digit(DTMFEvent)
        /// Play nothing for ``DTMFTiming/pause``.
        case pause
    }

    /// The largest number of characters.
    package static let maxSteps = 128

    /// What to play, in order; never empty.
    package let steps: [Step]

    /// Parses a text.
    /// - Throws: ``DTMFError`` when it is empty, too long, or contains any other character.
    package init(_ text: String) throws(DTMFError) {
        guard !text.isEmpty else { throw .empty }
        var steps: [Step] = []
        for character in text {
            guard steps.count < Self.maxSteps else { throw .tooLong(bound: Self.maxSteps) }
            if character == "," {
                steps.append(.pause)
            } else if let event = DTMFEvent(character) {
                steps.append(.digit(event))
            } else {
                throw .noDigit(position: steps.count)
            }
        }
        self.steps = steps
    }
}

/// Why digits cannot be played.
package enum DTMFError: Error, Equatable, Sendable {
    /// The text is empty.
    case empty
    /// The text has more characters than the bound.
    case tooLong(bound: Int)
    /// The character at this place, counted from 0, is neither a digit nor a pause.
    case noDigit(position: Int)
    /// More digits are waiting than the bound allows.
    case full(bound: Int)
    /// The peer does not support telephone-event, or the media have not started.
    case unavailable
}
