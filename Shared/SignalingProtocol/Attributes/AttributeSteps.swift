/// Splits many attribute changes into steps, each small enough not to block Redis for long.
package enum AttributeSteps {
    /// The largest number of changes in one step.
    package static let count = 100
    /// The largest total size, in bytes, of names and values in one step, unless a single change is larger.
    package static let bytes = 65_536

    /// Splits changes into steps; one empty step when there are no changes.
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

    /// Splits the setting of these attributes into steps.
    package static func of(_ attributes: [Attribute]) -> [[AttributeChange]] { of(attributes.map { .update($0) }) }

    private static func size(of change: AttributeChange) -> Int {
        switch change {
        case .update(let attribute): attribute.name.rawValue.utf8.count + attribute.value.utf8.count
        case .delete(let name): name.rawValue.utf8.count
        case .clear: 0
        }
    }
}
