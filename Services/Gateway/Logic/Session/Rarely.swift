/// Storage for a value that a connection seldom has. It is kept on the heap while it is there, so that its absence costs one
/// word: memory per connection bounds how many connections a gateway can hold.
@propertyWrapper
struct Rarely<Value> {
    private indirect enum Box {
        case none
        case some(Value)
    }

    private var box = Box.none

    init() {}

    var wrappedValue: Value? {
        get { if case .some(let value) = box { value } else { nil } }
        set { box = newValue.map(Box.some) ?? .none }
    }
}
