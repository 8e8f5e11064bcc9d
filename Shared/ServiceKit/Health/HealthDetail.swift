internal import SignalingWire

/// A fact about the process that `/healthz` shows.
package struct HealthDetail: Sendable {
    let member: JSONMember

    /// A fact with a text value.
    package init(_ name: String, _ text: String) {
        member = JSONMember(name, .string(text))
    }

    /// A fact with a number as its value.
    package init(_ name: String, _ number: Int) {
        member = JSONMember(name, .number("\(number)"))
    }
}
