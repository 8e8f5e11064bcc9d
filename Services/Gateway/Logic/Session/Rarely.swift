/// A value that most connections do not have at most times: it lies on the heap while it is there, and its absence takes a
/// word. There are a million connections, and each byte of one counts.
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
