/// A call and where its record lies, as the lists of a user's and of a sip-bridge's calls name it.
package struct CallReference: Equatable, Sendable {
    /// The call.
    package var call: CallID
    /// The hash tag of its record's keys.
    package var tag: String

    /// The element, `CALLID TAG`; neither part holds a space.
    package var text: String { "\(call) \(tag)" }

    /// Joins the two.
    package init(call: CallID, tag: String) {
        self.call = call
        self.tag = tag
    }

    /// Reads an element of such a list; nil for another form.
    package init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return nil }
        call = CallID(String(parts[0]))
        tag = String(parts[1])
    }
}
