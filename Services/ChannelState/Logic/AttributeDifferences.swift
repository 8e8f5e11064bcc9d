package import SignalingProtocol

/// What makes of cached attributes those that PostgreSQL has.
package enum AttributeDifferences {
    /// The changes from what is cached to what was read; in the order of what was read, deletions last.
    package static func between(_ cached: [Attribute], and read: [Attribute]) -> [AttributeChange] {
        var old = Dictionary(cached.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var changes: [AttributeChange] = []
        for attribute in read {
            let value = old.removeValue(forKey: attribute.name)
            // Swift's strings are equal when they mean the same; values are bytes.
            if value.map({ $0.utf8.elementsEqual(attribute.value.utf8) }) != true { changes.append(.update(attribute)) }
        }
        return changes + old.keys.sorted().map { .delete($0) }
    }
}
