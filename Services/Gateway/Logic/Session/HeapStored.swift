/// Storage for a value that few connections have at a time. It is on the heap while it exists, so that its absence
/// costs one word: the memory per connection determines how many connections a gateway can hold.
@propertyWrapper
package struct HeapStored<Value> {
    private indirect enum Box {
        case none
        case some(Value)
    }

    private var box = Box.none

    /// Holds no value.
    package init() {}

    package var wrappedValue: Value? {
        get { if case .some(let value) = box { value } else { nil } }
        set { box = newValue.map(Box.some) ?? .none }
    }
}
