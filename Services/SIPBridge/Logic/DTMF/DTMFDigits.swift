/// One of the sixteen events of a telephone's keypad, RFC 4733 section 3.2.
package struct DTMFEvent: Hashable, Sendable {
    /// The event's code, 0 to 15.
    package let code: UInt8

    private static let characters = Array("0123456789*#ABCD")

    /// The event with a code; nil above 15, where the events are no digits.
    package init?(code: UInt8) {
        guard code < 16 else { return nil }
        self.code = code
    }

    /// The event of `0` to `9`, `*`, `#`, or `A` to `D`; nil for any other character.
    package init?(_ character: Character) {
        guard let index = Self.characters.firstIndex(of: character) else { return nil }
        code = UInt8(index)
    }

    /// `0` to `9`, `*`, `#`, or `A` to `D`.
    package var character: Character { Self.characters[Int(code)] }
}

/// A text of digits, as users give it: `0` to `9`, `*`, `#`, `A` to `D`, and `,` for a pause.
package struct DTMFDigits: Equatable, Sendable {
    /// One character of the text.
    package enum Step: Equatable, Sendable {
        /// Plays a digit.
        case digit(DTMFEvent)
        /// Plays nothing for ``DTMFTiming/pause``.
        case pause
    }

    /// Characters of one text at most.
    package static let maxSteps = 128

    /// What to play, in order; never empty.
    package let steps: [Step]

    /// Reads a text.
    /// - Throws: ``DTMFError`` when it is empty, too long, or has a character that is no digit and no pause.
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
    /// There is no character in the text.
    case empty
    /// The text has more characters than the bound.
    case tooLong(bound: Int)
    /// The character at this place, counted from 0, is neither a digit nor a pause.
    case noDigit(position: Int)
    /// More digits wait than the bound.
    case full(bound: Int)
    /// The peer takes no telephone-event, or the media are not up.
    case unavailable
}
