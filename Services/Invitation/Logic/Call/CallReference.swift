internal import BusProtocol
internal import SignalingProtocol

/// A call and the place of its record: an element of the lists of a user's or a sip-bridge's calls.
package struct CallReference: Equatable, Sendable {
    /// The call's id.
    package var call: CallID
    /// The hash tag of the record's keys.
    package var tag: String

    /// The element's text, `CALLID TAG`; neither part contains a space.
    package var text: String { "\(call) \(tag)" }

    /// Creates a reference.
    package init(call: CallID, tag: String) {
        self.call = call
        self.tag = tag
    }

    /// Parses an element; nil when it has another form.
    package init?(text: String) {
        let reference = try? TextFields.read(text, what: "a reference to a call") { fields throws(SignalingError) in
            let reference = CallReference(call: CallID(try fields.next()), tag: try fields.next())
            return fields.remainder.isEmpty ? reference : nil
        }
        guard let reference else { return nil }
        self = reference
    }
}
