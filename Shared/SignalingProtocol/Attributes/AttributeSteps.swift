/// Changes of attributes in steps that hold up nobody in Redis.
package enum AttributeSteps {
    /// Changes of one step at most.
    package static let count = 100
    /// Bytes of names and values of one step at most, unless one change has more.
    package static let bytes = 65_536

    /// The changes in steps; one empty step when there is none.
    package static func of(_ changes: [AttributeChange]) -> [[AttributeChange]] {
        var steps: [[AttributeChange]] = [[]]
        var taken = 0
        for change in changes {
            let size = size(of: change)
            if let last = steps.last, !last.isEmpty, last.count == count || taken + size > bytes {
                steps.append([])
                taken = 0
            }
            steps[steps.count - 1].append(change)
            taken += size
        }
        return steps
    }

    /// Attributes in steps; as for changes.
    package static func of(_ attributes: [Attribute]) -> [[AttributeChange]] { of(attributes.map { .update($0) }) }

    private static func size(of change: AttributeChange) -> Int {
        switch change {
        case .update(let attribute): attribute.name.rawValue.utf8.count + attribute.value.utf8.count
        case .delete(let name): name.rawValue.utf8.count
        case .clear: 0
        }
    }
}
