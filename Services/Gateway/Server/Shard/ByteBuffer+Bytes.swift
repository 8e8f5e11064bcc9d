internal import NIOCore

extension ByteBuffer {
    /// The readable bytes in place, typed as the wire's decoders take them.
    func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withUnsafeReadableBytes { $0.withMemoryRebound(to: UInt8.self, body) }
    }
}
