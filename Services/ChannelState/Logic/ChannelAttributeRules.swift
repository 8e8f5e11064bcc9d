public import SignalingProtocol

/// What a change of a channel's attributes may be.
public enum ChannelAttributeRules {
    /// Checks a change that is about to be made.
    /// - Throws: `SignalingError`: ``SignalingCode/largeParameter`` for a value above ``Limits/attributeValueBytes`` bytes;
    ///   ``SignalingCode/wrongParameter`` for an unknown name with a leading underscore, one that only the system may
    ///   change, or a built-in's value that is no whole number of its range.
    public static func check(_ change: AttributeChange) throws(SignalingError) {
        switch change {
        case .clear: break
        case .delete(let name): _ = try builtIn(name)
        case .update(let attribute):
            guard attribute.value.utf8.count <= Limits.attributeValueBytes else {
                throw SignalingError(
                    .largeParameter, "value_too_large",
                    "an attribute value is at most \(Limits.attributeValueBytes) bytes")
            }
            guard let builtIn = try builtIn(attribute.name) else { return }
            let range = range(of: builtIn)
            guard let value = Int(attribute.value), range.contains(value) else {
                throw SignalingError(
                    .wrongParameter, "invalid_built_in",
                    "\(builtIn.rawValue) is a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
        }
    }

    /// The change's attribute, which `_setattr_limit` counts; empty for ``AttributeChange/clear``.
    public static func countedName(_ change: AttributeChange) -> String {
        switch change {
        case .update(let attribute): attribute.name.rawValue
        case .delete(let name): name.rawValue
        case .clear: ""
        }
    }

    /// Seconds that an empty channel lives from now on, when the change says so.
    public static func timeToLive(setBy change: AttributeChange) -> Int? {
        switch change {
        case .update(let attribute) where attribute.name.rawValue == BuiltInAttribute.Channel.timeToLive.rawValue:
            Int(attribute.value)
        case .update, .delete, .clear: nil
        }
    }

    private static func builtIn(_ name: AttributeName) throws(SignalingError) -> BuiltInAttribute.Channel? {
        guard name.rawValue.utf8.first == UInt8(ascii: "_") else { return nil }
        guard let builtIn = BuiltInAttribute.Channel(rawValue: name.rawValue) else {
            throw SignalingError(
                .wrongParameter, "unknown_built_in", "names with a leading underscore are built-in attributes")
        }
        guard !builtIn.isReadOnly else {
            throw SignalingError(.wrongParameter, "read_only", "\(builtIn.rawValue) is kept by the system")
        }
        return builtIn
    }

    private static func range(of builtIn: BuiltInAttribute.Channel) -> ClosedRange<Int> {
        switch builtIn {
        case .userNotification: 0...1
        case .timeToLive: 0...31_536_000
        case .autoUpdateNumber, .autoUpdateTotal: 0...86_400
        case .sendLimit, .attributeLimit: 0...1_000_000
        case .memberNumber, .totalMemberNumber: 0...Int.max
        }
    }
}
