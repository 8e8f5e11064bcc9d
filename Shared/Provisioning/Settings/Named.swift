internal import SignalingWire

/// What a command or a file says of a setting that can be without a value.
package enum Named<Value: Equatable & Sendable>: Equatable, Sendable {
    /// Nothing: it stays.
    case unsaid
    /// That it has no value, or its default.
    case none
    /// Its value.
    case value(Value)

    /// The value that is given; nil for none, and where nothing is said.
    package var given: Value? {
        if case .value(let value) = self { value } else { nil }
    }

    /// The value after the change.
    package func changed(_ former: Value?) -> Value? {
        switch self {
        case .unsaid: former
        case .none: nil
        case .value(let value): value
        }
    }
}

extension FilePlace {
    /// A value, or null for none.
    func named<Value>(
        _ read: (FilePlace) throws(SettingProblem) -> Value
    ) throws(SettingProblem) -> Named<Value> {
        if case .null = value { return .none }
        return .value(try read(self))
    }
}
