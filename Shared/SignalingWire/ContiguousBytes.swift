extension Collection<UInt8> {
    /// The bytes as they lie in memory; copied first if they are scattered.
    ///
    /// Inlinable, as its callers are: generic code of another module is otherwise not specialized, and looking up types at
    /// run time took longer than reading a frame.
    @inlinable
    func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        if let value = withContiguousStorageIfAvailable(body) { return value }
        return ContiguousArray(self).withUnsafeBufferPointer(body)
    }
}
