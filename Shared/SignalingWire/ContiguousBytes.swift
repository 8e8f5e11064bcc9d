extension Collection<UInt8> {
    /// Gives `body` the bytes in one contiguous buffer, which is a copy only when they are not contiguous already.
    package func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        if let value = withContiguousStorageIfAvailable(body) { return value }
        return ContiguousArray(self).withUnsafeBufferPointer(body)
    }
}
