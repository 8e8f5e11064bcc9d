package import SignalingProtocol

/// Which attributes a user may have.
package enum UserAttributeRules {
    /// Checks an attribute before it is set.
    /// - Throws: `SignalingError`: ``SignalingCode/largeParameter`` for a value above ``Limits/attributeValueBytes``
    ///   bytes; ``SignalingCode/wrongParameter`` for an unknown name with a leading underscore, or an invalid value of
    ///   a built-in attribute.
    package static func check(_ attribute: Attribute) throws(SignalingError) {
        guard attribute.value.utf8.count <= Limits.attributeValueBytes else {
            throw SignalingError(
                .largeParameter, .valueTooLarge, "an attribute value may have up to \(Limits.attributeValueBytes) bytes"
            )
        }
        guard attribute.name.rawValue.utf8.first == UInt8(ascii: "_") else { return }
        guard attribute.name.rawValue == BuiltInAttribute.connectionTimeout else {
            throw SignalingError(
                .wrongParameter, .unknownBuiltIn,
                "names that begin with an underscore are reserved for built-in attributes")
        }
        guard Int(attribute.value) != nil else {
            throw SignalingError(
                .wrongParameter, .notAnInteger, "\(BuiltInAttribute.connectionTimeout) must be an integer, in seconds")
        }
    }

    /// Checks an attribute before it is deleted.
    /// - Throws: `SignalingError`: ``SignalingCode/wrongParameter`` for a built-in attribute, which always has a value.
    package static func checkDeletion(_ name: AttributeName) throws(SignalingError) {
        guard name.rawValue.utf8.first != UInt8(ascii: "_") else {
            throw SignalingError(
                .wrongParameter, .readOnly, "built-in attributes, which begin with an underscore, cannot be deleted")
        }
    }

    /// How long the user's session outlives its connection, as an attribute sets it; nil unless it is `_conn_timeout`.
    package static func sessionTimeout(_ attribute: Attribute) -> Duration? {
        guard attribute.name.rawValue == BuiltInAttribute.connectionTimeout else { return nil }
        return ConnectionTimeout.duration(attribute.value)
    }
}
