package import SignalingProtocol

/// The changes that turn cached attributes into those of PostgreSQL.
package enum AttributeDifferences {
    /// The changes from `cached` to `read`, in the order of `read`, deletions last.
    package static func between(_ cached: [Attribute], and read: [Attribute]) -> [AttributeChange] {
        var old = Dictionary(cached.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var changes: [AttributeChange] = []
        for attribute in read {
            let value = old.removeValue(forKey: attribute.name)
            // Compared as bytes: Swift's == also treats different encodings of the same character as equal.
            if value.map({ $0.utf8.elementsEqual(attribute.value.utf8) }) != true { changes.append(.update(attribute)) }
        }
        return changes + old.keys.sorted().map { .delete($0) }
    }
}
