/// A change to a user's or channel's attributes.
package enum AttributeChange: Equatable, Sendable {
    /// Sets an attribute.
    case update(Attribute)
    /// Deletes an attribute.
    case delete(AttributeName)
    /// Deletes all attributes.
    case clear
}

/// An attribute of a user or channel.
package struct Attribute: Hashable, Sendable {
    /// The name.
    package var name: AttributeName
    /// The value, unchanged.
    package var value: String

    package init(name: AttributeName, value: String) {
        self.name = name
        self.value = value
    }
}
