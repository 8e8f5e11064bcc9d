internal import RedisClient

/// Elements by the slot of their keys, so that what happened in some slots is found without a look at all elements.
struct SlotIndex<Element: Hashable & Sendable>: Sendable {
    private var slots: [Element: UInt16] = [:]
    private var elements: [UInt16: Set<Element>] = [:]
    /// How many elements and slots have been looked at by ``elements(in:)``.
    private(set) var visits = 0

    /// The number of elements.
    var count: Int { slots.count }

    /// Adds an element, or moves it to another slot.
    mutating func insert(_ element: Element, slot: UInt16) {
        guard let former = slots.updateValue(slot, forKey: element) else {
            elements[slot, default: []].insert(element)
            return
        }
        guard former != slot else { return }
        remove(element, from: former)
        elements[slot, default: []].insert(element)
    }

    /// Removes an element; one that is not there is ignored.
    mutating func remove(_ element: Element) {
        if let slot = slots.removeValue(forKey: element) { remove(element, from: slot) }
    }

    private mutating func remove(_ element: Element, from slot: UInt16) {
        elements[slot]?.remove(element)
        if elements[slot]?.isEmpty == true { elements[slot] = nil }
    }

    /// The elements in some slots.
    mutating func elements(in scope: SlotScope) -> [Element] {
        let found: [Element]
        switch scope {
        case .all:
            found = Array(slots.keys)
        case .slots(let wanted) where wanted.count <= elements.count:
            visits += wanted.count
            found = wanted.flatMap { elements[$0] ?? [] }
        case .slots(let wanted):
            visits += elements.count
            found = elements.lazy.filter { wanted.contains($0.key) }.flatMap(\.value)
        }
        visits += found.count
        return found
    }
}
