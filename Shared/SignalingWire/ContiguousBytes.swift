extension Collection<UInt8> {
    /// The bytes as they lie in memory; copied first if they are scattered.
    func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        if let value = withContiguousStorageIfAvailable(body) { return value }
        return ContiguousArray(self).withUnsafeBufferPointer(body)
    }
}
