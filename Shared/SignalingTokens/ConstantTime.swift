internal import CCrypto

/// Comparison in a time that does not reveal the position of the first difference.
package enum ConstantTime {
    /// Whether two texts have the same bytes.
    package static func equal(_ left: String, _ right: String) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        return left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
