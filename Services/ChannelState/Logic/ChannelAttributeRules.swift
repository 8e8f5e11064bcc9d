package import SignalingProtocol

/// Which changes of a channel's attributes are allowed.
package enum ChannelAttributeRules {
    /// Checks a change before it is made.
    /// - Throws: `SignalingError`: ``SignalingCode/largeParameter`` for a value above ``Limits/attributeValueBytes``
    ///   bytes; ``SignalingCode/wrongParameter`` for an unknown name with a leading underscore, one that only the
    ///   system may change, a built-in attribute of a special channel, or a built-in attribute's value that is not a
    ///   whole number of its range.
    package static func check(_ change: AttributeChange, of channel: ChannelName) throws(SignalingError) {
        switch change {
        case .clear: break
        case .delete(let name): _ = try builtIn(name, of: channel)
        case .update(let attribute):
            guard attribute.value.utf8.count <= Limits.attributeValueBytes else {
                throw SignalingError(
                    .largeParameter, .valueTooLarge,
                    "an attribute value may have up to \(Limits.attributeValueBytes) bytes")
            }
            guard let builtIn = try builtIn(attribute.name, of: channel) else { return }
            let range = range(of: builtIn)
            // Redis Functions compare the text, so each number must have only one spelling.
            guard let value = Int(attribute.value), range.contains(value), String(value) == attribute.value else {
                throw SignalingError(
                    .wrongParameter, .invalidBuiltIn,
                    "\(builtIn.rawValue) must be an integer from \(range.lowerBound) to \(range.upperBound)")
            }
        }
    }

    /// The name under which `_setattr_limit` counts the change; empty for ``AttributeChange/clear``.
    package static func countedName(_ change: AttributeChange) -> String {
        switch change {
        case .update(let attribute): attribute.name.rawValue
        case .delete(let name): name.rawValue
        case .clear: ""
        }
    }

    /// The timers of a channel that depend on its attributes.
    package enum AffectedTimers: Equatable, Sendable {
        /// None depends on the changed attribute.
        case none
        /// The timer that ends the empty channel.
        case expiry
        /// The timers that announce the counters.
        case counters
    }

    /// Which timers must be set anew after a change. Counters that a clear turns off need none.
    package static func timers(affectedBy change: AttributeChange, of channel: ChannelKey) -> AffectedTimers {
        if channel.name.special != nil { return .none }
        let name: AttributeName
        switch change {
        case .update(let attribute): name = attribute.name
        case .delete(let deleted): name = deleted
        case .clear: return .expiry
        }
        return switch BuiltInAttribute.Channel(rawValue: name.rawValue) {
        case .timeToLive: .expiry
        case .autoUpdateNumber, .autoUpdateTotal: .counters
        case .userNotification, .sendLimit, .attributeLimit, .memberNumber, .totalMemberNumber, nil: .none
        }
    }

    private static func builtIn(
        _ name: AttributeName, of channel: ChannelName
    ) throws(SignalingError) -> BuiltInAttribute.Channel? {
        guard name.rawValue.utf8.first == UInt8(ascii: "_") else { return nil }
        guard let builtIn = BuiltInAttribute.Channel(rawValue: name.rawValue) else {
            throw SignalingError(
                .wrongParameter, .unknownBuiltIn,
                "names that begin with an underscore are reserved for built-in attributes")
        }
        guard !builtIn.isReadOnly else {
            throw SignalingError(.wrongParameter, .readOnly, "\(builtIn.rawValue) is read-only: the system sets it")
        }
        guard channel.special == nil else {
            throw SignalingError(
                .wrongParameter, .specialChannel, "\(channel) is a system channel and has no built-in attributes")
        }
        return builtIn
    }

    private static func range(of builtIn: BuiltInAttribute.Channel) -> ClosedRange<Int> {
        switch builtIn {
        case .userNotification: 0...1
        case .timeToLive: 0...31_536_000  // 0: the channel ends when its last member leaves.
        case .autoUpdateNumber, .autoUpdateTotal: 0...86_400  // 0: off.
        case .sendLimit, .attributeLimit: 1...1_000_000
        case .memberNumber, .totalMemberNumber: 0...Int.max
        }
    }
}
