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
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return nil }
        call = CallID(String(parts[0]))
        tag = String(parts[1])
    }
}
