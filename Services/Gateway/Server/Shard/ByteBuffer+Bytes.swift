internal import NIOCore

extension ByteBuffer {
    /// Passes the readable bytes to `body` without a copy, in the type that the wire's decoders take.
    func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withUnsafeReadableBytes { $0.withMemoryRebound(to: UInt8.self, body) }
    }
}
