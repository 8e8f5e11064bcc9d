internal import SignalingWire

/// A fact about the process that `/healthz` shows.
package struct HealthDetail: Sendable {
    let name: String
    let json: String

    /// A fact with a text value.
    package init(_ name: String, _ text: String) {
        self.name = name
        json = JSONText.quotedPrintable(text)
    }

    /// A fact with a number as its value.
    package init(_ name: String, _ number: Int) {
        self.name = name
        json = String(number)
    }
}
