internal import NIOCore

/// The buffers that a client's bytes are read into, of which an idle connection keeps next to nothing.
///
/// NIO keeps the first buffer of each connection for as long as the connection lives, to read into it again. So the
/// first one is tiny, as large as the first line of an opening handshake, and NIO is told never to use it again, by
/// ``record(actualReadBytes:)``: each further read has a buffer of its own, which is freed when its bytes are handled.
/// What this saves and costs is in `Docs/decisions/0044-idle-connections.md`.
///
/// Three words at most, or NIO would keep it in a block of memory of its own.
struct ReadBuffers: RecvByteBufferAllocator {
    /// NIO keeps no more buffers than it reads messages at once.
    static let readsAtOnce: UInt = 1

    private static let first = 16
    private static let least = 512
    private static let most = 65_536

    private var size = Self.first

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: size) }

    /// A buffer that was filled is followed by one of twice its size, and one of which at most half was used by one of
    /// half its size.
    /// - Returns: always true, by which NIO asks for a new buffer.
    mutating func record(actualReadBytes count: Int) -> Bool {
        if count >= size {
            size = min(max(2 * size, Self.least), Self.most)
        } else if count <= size / 2 {
            size = max(size / 2, Self.least)
        }
        return true
    }
}
